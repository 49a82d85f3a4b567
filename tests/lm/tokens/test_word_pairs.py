import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.lm.tokens.factory import learn_tokenizer, tokenizer_from_json
from thresher.text.romanization import romanize

TEXT = (
    "The cat sat on the mat.\nThe dog — née Bello — sat on the cat!\n\n  ሰላም ለዓለም 😀\t"
    "the end, the end, the cat.\r\nThe dog sat.\n"
) * 5


def test_the_tokens_of_a_word_depend_neither_on_its_neighbours_nor_on_case():
    tokenizer = learn_tokenizer("word-pairs", TEXT)
    alone = [tokenizer.encode(word).tolist()[:-1] for word in ("the", "dog", "ሰላም", ".")]
    line_end = tokenizer.encode("the").tolist()[-1:]
    expected = [i for ids in alone for i in ids] + line_end
    assert tokenizer.encode("THE Dog  ሰላም.").tolist() == expected
    assert tokenizer.encode_words(["The", "dog", "ሰላም", "."]) == alone
    assert tokenizer.decode(tokenizer.encode("The dog.")) == " the dog .\n"


def test_letters_and_combining_marks_stay_together():
    tokenizer = learn_tokenizer("word-pairs", "ọ̀rọ̀ हिन्दी " * 20)
    assert {" ọ̀rọ̀", " हिन्दी"} <= set(tokenizer.names)


def test_a_line_end_follows_each_sentence():
    tokenizer = learn_tokenizer("word-pairs", TEXT)
    ids = tokenizer.encode("The cat sat. The dog sat.").tolist()
    assert ids.count(tokenizer.line_end) == 2
    assert ids[-1] == tokenizer.line_end


@given(words=st.lists(st.text(), max_size=4))
def test_any_word_can_be_encoded(words):
    tokenizer = learn_tokenizer("word-pairs", TEXT, vocabulary=280)
    for word, ids in zip(words, tokenizer.encode_words(words), strict=True):
        expected = " " + romanize(word.casefold()).encode("utf-8", "replace").decode()
        assert tokenizer.decode(ids) == expected


def test_the_cache_of_words_is_limited(monkeypatch):
    tokenizer = learn_tokenizer("word-pairs", TEXT)
    expected = {word: tokenizer.encode_words([word])[0] for word in "the cat sat on a mat".split()}
    monkeypatch.setattr("thresher.lm.tokens.word_pairs._MAX_CACHED_WORDS", 3)
    for words in (["the", "cat"], ["sat", "on", "the"], ["a", "mat"], list(expected)):
        assert tokenizer.encode_words(words) == [expected[word] for word in words]
        assert len(tokenizer._cache) <= 3 + len(words)


def test_a_thread_can_still_read_a_cache_that_another_has_replaced(monkeypatch):
    tokenizer = learn_tokenizer("word-pairs", TEXT)
    expected = {word: tokenizer.encode_words([word])[0] for word in "the cat sat on".split()}
    library_tokenizer = tokenizer._tokenizer

    class Interrupted:
        def encode_batch_fast(self, words):
            monkeypatch.setattr(tokenizer, "_tokenizer", library_tokenizer)
            monkeypatch.setattr("thresher.lm.tokens.word_pairs._MAX_CACHED_WORDS", 3)
            assert tokenizer.encode_words(["on"]) == [expected["on"]]
            return library_tokenizer.encode_batch_fast(words)

    monkeypatch.setattr(tokenizer, "_tokenizer", Interrupted())
    ids = tokenizer.encode_words(["the", "mat", "cat"])
    assert ids[::2] == [expected["the"], expected["cat"]]
    assert list(tokenizer._cache) == ["on"]


@pytest.mark.parametrize(("text", "spelt"), [("ኬንያ ነው " * 9, False), ("ኬንያ is " * 9, True)])
def test_syllables_are_romanised_only_in_mixed_text_and_after_saving_too(text, spelt):
    tokenizer = learn_tokenizer("word-pairs", text)
    loaded = tokenizer_from_json(tokenizer.to_json())
    for each in (tokenizer, loaded):
        assert each.decode(each.encode_words(["ኬንያ"])[0]) == (" kenya" if spelt else " ኬንያ")
