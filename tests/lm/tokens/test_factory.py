"""Tokens: text to ids and back, sizes that are kept, and what cannot be read."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.tokens.factory import (
    DEFAULT_PAIRS,
    KINDS,
    UNKNOWN,
    learn_tokens,
    token_counts,
    tokens_from_json,
)
from thresher.text.romanization import romanize

TEXT = (
    "The cat sat on the mat.\nThe dog — née Bello — sat on the cat!\n\n  ሰላም ለዓለም 😀\t"
    "the end, the end, the cat.\r\nThe dog sat.\n"
) * 5


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_byte_pairs_give_back_any_text(text):
    tokens = learn_tokens("bpe", TEXT, vocabulary=280)
    assert tokens.decode(tokens.encode(text)) == text


@given(text=st.text(st.sampled_from(sorted(set(TEXT)))))
def test_characters_give_back_any_text_of_theirs(text):
    tokens = learn_tokens("characters", TEXT)
    assert tokens.decode(tokens.encode(text)) == text
    assert len(tokens.encode(text)) == len(text)


def test_words_give_back_words_and_one_token_for_all_others():
    tokens = learn_tokens("words", "a b a b a c .")
    assert tokens.names == [UNKNOWN, "a", "b"]
    assert tokens.encode("b a c a zebra").tolist() == [2, 1, 0, 1, 0]
    assert tokens.decode([2, 1, 0]) == f"b a {UNKNOWN}"


def test_words_are_kept_by_frequency():
    counts = Counter({"red": 5, "blue": 4, "ape": 3, "bee": 3, "cow": 1})
    text = " ".join(counts.elements())
    assert learn_tokens("words", text, vocabulary=4).names[1:] == ["red", "blue", "ape"]
    assert learn_tokens("words", text, vocabulary=6).vocabulary == 6


@pytest.mark.parametrize("size", [256, 270, 300])
def test_byte_pairs_are_as_many_as_asked_for(size):
    assert learn_tokens("bpe", TEXT, vocabulary=size).vocabulary == size


def test_byte_pairs_are_named_by_their_text():
    tokens = learn_tokens("bpe", TEXT)
    assert {"The", " cat", "\n"} <= set(tokens.names)
    for token in tokens.encode("The cat née").tolist():
        assert tokens.names[token] == tokens.decode([token])
    assert len({*tokens.names}) == tokens.vocabulary


def test_without_a_size_the_data_may_give_fewer():
    assert 256 < learn_tokens("bpe", TEXT).vocabulary < DEFAULT_PAIRS


def test_more_pairs_make_fewer_tokens():
    lengths = [len(learn_tokens("bpe", TEXT, vocabulary=v).encode(TEXT)) for v in (256, 280, 300)]
    assert lengths[0] == len(TEXT.encode())
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_saved_tokens_read_as_before(kind):
    tokens = learn_tokens(kind, TEXT)
    again = tokens_from_json(tokens.to_json())
    assert type(again) is type(tokens)
    assert list(again.names) == list(tokens.names)
    np.testing.assert_array_equal(again.encode(TEXT), tokens.encode(TEXT))
    assert again.to_json() == tokens.to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_ids_lie_within_the_vocabulary_and_are_counted(kind):
    tokens = learn_tokens(kind, TEXT)
    ids = tokens.encode(TEXT)
    counts = token_counts(ids, tokens.vocabulary)
    assert counts.tolist() == [Counter(ids.tolist())[i] for i in range(tokens.vocabulary)]
    assert tokens.encode("").shape == (0,)
    assert ids.dtype == np.int64


def test_a_character_never_seen_is_named_with_its_line():
    tokens = learn_tokens("characters", "abc\n")
    with pytest.raises(InputError, match=r"'é' \(line 2\) was never seen in training"):
        tokens.encode("abc\nabé")
    with pytest.raises(InputError, match="'\\\\t'"):  # before the first code point too
        tokens.encode("\t")


@pytest.mark.parametrize("kind", KINDS)
def test_half_of_a_surrogate_pair_is_read_as_a_question_mark(kind):
    """It has no bytes: a model that knew it could not be saved."""
    halved, marked = (f"a {each} b a {each} b\n" * 5 for each in ("\ud83d", "?"))
    tokens = learn_tokens(kind, halved)
    assert tokens.to_json() == learn_tokens(kind, marked).to_json()
    assert tokens.to_json().encode()
    assert tokens.decode(tokens.encode(halved)).count("?") == 10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_corpus_is_an_error(kind, text):
    with pytest.raises(InputError, match="empty or blank"):
        learn_tokens(kind, text)


@pytest.mark.parametrize(
    ("kind", "size", "told"),
    [
        ("bpe", 100_000, "larger than the data: its bpe give at most"),
        ("words", 1000, "larger than the data: its words give at most"),
        ("bpe", 255, "at least 256 tokens, got 255"),
        ("words", 1, "at least 2 tokens, got 1"),
        ("characters", 65, "counted, not chosen"),
        ("syllables", None, "unknown tokens .syllables.; choose from characters, bpe, word-pairs"),
    ],
)
def test_a_size_that_cannot_be_is_an_error(kind, size, told):
    with pytest.raises(InputError, match=told):
        learn_tokens(kind, TEXT, vocabulary=size)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"kind": "x", "tokens": ""}', '{"kind": "bpe", "tokens": {}}']
)
def test_what_is_no_tokens_is_an_error(content):
    with pytest.raises(InputError, match="tokens"):
        tokens_from_json(content)


def test_words_that_all_occur_once_are_an_error():
    with pytest.raises(InputError, match="no word occurs twice"):
        learn_tokens("words", "all different here")


# Pairs within words


def test_the_tokens_of_a_word_are_the_same_wherever_it_stands_and_however_it_is_written():
    tokens = learn_tokens("word-pairs", TEXT)
    alone = [tokens.encode(word).tolist()[:-1] for word in ("the", "dog", "ሰላም", ".")]
    line_end = tokens.encode("the").tolist()[-1:]
    assert tokens.encode("THE Dog  ሰላም.").tolist() == [i for row in alone for i in row] + line_end
    assert tokens.encode_words(["The", "dog", "ሰላም", "."]) == alone
    assert tokens.decode(tokens.encode("The dog.")) == " the dog .\n"


def test_a_letter_and_its_marks_stay_together():
    tokens = learn_tokens("word-pairs", "ọ̀rọ̀ हिन्दी " * 20)
    assert {" ọ̀rọ̀", " हिन्दी"} <= set(tokens.names)


def test_each_sentence_ends_in_a_line_end():
    tokens = learn_tokens("word-pairs", TEXT)
    ids = tokens.encode("The cat sat. The dog sat.").tolist()
    assert ids.count(tokens.line_end) == 2
    assert ids[-1] == tokens.line_end


@given(words=st.lists(st.text(), max_size=4))
def test_pairs_within_words_read_any_word(words):
    tokens = learn_tokens("word-pairs", TEXT, vocabulary=280)
    for word, ids in zip(words, tokens.encode_words(words), strict=True):
        expected = " " + romanize(word.casefold()).encode("utf-8", "replace").decode()
        assert tokens.decode(ids) == expected


def test_words_are_kept_in_mind_up_to_a_limit(monkeypatch):
    tokens = learn_tokens("word-pairs", TEXT)
    expected = {word: tokens.encode_words([word])[0] for word in "the cat sat on a mat".split()}
    monkeypatch.setattr("thresher.lm.tokens.byte_pairs._MOST_KNOWN", 3)
    for words in (["the", "cat"], ["sat", "on", "the"], ["a", "mat"], list(expected)):
        assert tokens.encode_words(words) == [expected[word] for word in words]
        assert len(tokens._known) <= 3 + len(words)


def test_what_is_forgotten_meanwhile_is_still_known_to_whoever_reads(monkeypatch):
    """As when one thread forgets all while another waits for the tokens of a new word."""
    tokens = learn_tokens("word-pairs", TEXT)
    expected = {word: tokens.encode_words([word])[0] for word in "the cat sat on".split()}
    tokenizer = tokens._tokenizer

    class Interrupted:
        def encode_batch_fast(self, words):
            monkeypatch.setattr(tokens, "_tokenizer", tokenizer)
            monkeypatch.setattr("thresher.lm.tokens.byte_pairs._MOST_KNOWN", 3)
            assert tokens.encode_words(["on"]) == [expected["on"]]
            return tokenizer.encode_batch_fast(words)

    monkeypatch.setattr(tokens, "_tokenizer", Interrupted())
    assert tokens.encode_words(["the", "mat", "cat"])[::2] == [expected["the"], expected["cat"]]
    assert list(tokens._known) == ["on"]


@pytest.mark.parametrize(("text", "spelt"), [("ኬንያ ነው " * 9, False), ("ኬንያ is " * 9, True)])
def test_syllables_are_spelt_out_only_beside_other_letters_and_after_saving_too(text, spelt):
    tokens = learn_tokens("word-pairs", text)
    again = tokens_from_json(tokens.to_json())
    for each in (tokens, again):
        assert each.decode(each.encode_words(["ኬንያ"])[0]) == (" kenya" if spelt else " ኬንያ")
