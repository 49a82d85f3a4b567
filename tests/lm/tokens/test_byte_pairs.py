import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.lm.tokens.byte_pairs import _cut
from thresher.lm.tokens.factory import DEFAULT_BYTE_PAIRS, learn_tokenizer
from thresher.text.segmentation.word_pattern import MAX_WORD_LENGTH

TEXT = (
    "The cat sat on the mat.\nThe dog — née Bello — sat on the cat!\n\n  ሰላም ለዓለም 😀\t"
    "the end, the end, the cat.\r\nThe dog sat.\n"
) * 5


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_restored(text):
    tokenizer = learn_tokenizer("bpe", TEXT, vocabulary=280)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("size", [256, 270, 300])
def test_the_vocabulary_has_the_given_size(size):
    assert learn_tokenizer("bpe", TEXT, vocabulary=size).vocabulary == size


def test_without_a_size_a_short_text_gives_fewer_tokens_than_the_default():
    assert 256 < learn_tokenizer("bpe", TEXT).vocabulary < DEFAULT_BYTE_PAIRS


def test_tokens_are_named_by_their_text():
    tokenizer = learn_tokenizer("bpe", TEXT)
    assert {"The", " cat", "\n"} <= set(tokenizer.names)
    for token in tokenizer.encode("The cat née").tolist():
        assert tokenizer.names[token] == tokenizer.decode([token])
    assert len({*tokenizer.names}) == tokenizer.vocabulary


def test_a_larger_vocabulary_gives_fewer_tokens():
    tokenizers = [learn_tokenizer("bpe", TEXT, vocabulary=size) for size in (256, 280, 300)]
    lengths = [len(tokenizer.encode(TEXT)) for tokenizer in tokenizers]
    assert lengths[0] == len(TEXT.encode())
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 3


@pytest.mark.parametrize("run", ["a", ".", "1", " ", "ab", "x\u0301"])
def test_a_very_long_run_is_learned_in_linear_time(run):
    """Without a limit to the length of a run, 400,000 letters take a minute."""
    text = "Magda left Oslo. " * 50 + "\n" + run * (400_000 // len(run))
    start = time.process_time()
    tokenizer = learn_tokenizer("bpe", text)
    assert time.process_time() - start < 5
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_long_lines_of_short_words_are_not_cut():
    line = "Magda left Oslo. " * 50
    assert _cut(line) == [line]
    assert "".join(_cut(line + "a" * 1200)) == line + "a" * 1200
    assert max(map(len, _cut("a" * 1200))) == MAX_WORD_LENGTH
