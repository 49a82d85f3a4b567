"""Learning tokenizers of all kinds, saving them, and the errors of impossible vocabularies."""

from collections import Counter

import numpy as np
import pytest

from thresher.errors import InputError
from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.counts import token_counts
from thresher.lm.tokens.factory import learn_tokenizer, tokenizer_from_json
from thresher.lm.tokens.text_range import TextRange

TEXT = (
    "The cat sat on the mat.\nThe dog — née Bello — sat on the cat!\n\n  ሰላም ለዓለም 😀\t"
    "the end, the end, the cat.\r\nThe dog sat.\n"
) * 5


@pytest.mark.parametrize("kind", TokenizerKind)
def test_a_saved_tokenizer_encodes_as_before(kind):
    tokenizer = learn_tokenizer(kind, TEXT)
    loaded = tokenizer_from_json(tokenizer.to_json())
    assert type(loaded) is type(tokenizer)
    assert list(loaded.names) == list(tokenizer.names)
    np.testing.assert_array_equal(loaded.encode(TEXT), tokenizer.encode(TEXT))
    assert loaded.to_json() == tokenizer.to_json()


@pytest.mark.parametrize("kind", TokenizerKind)
def test_a_tokenizer_learns_from_a_part_of_a_text_as_from_a_copy_of_it(kind):
    part = TextRange(f"zebra zebra\n{TEXT}zebra zebra", 12, 12 + len(TEXT))
    assert learn_tokenizer(kind, part).to_json() == learn_tokenizer(kind, TEXT).to_json()


@pytest.mark.parametrize("kind", TokenizerKind)
def test_ids_lie_within_the_vocabulary_and_are_counted(kind):
    tokenizer = learn_tokenizer(kind, TEXT)
    ids = tokenizer.encode(TEXT)
    counts = token_counts(ids, tokenizer.vocabulary)
    assert counts.tolist() == [Counter(ids.tolist())[i] for i in range(tokenizer.vocabulary)]
    assert tokenizer.encode("").shape == (0,)
    assert ids.dtype == np.int64


@pytest.mark.parametrize("kind", TokenizerKind)
def test_a_lone_surrogate_is_encoded_as_a_question_mark(kind):
    """It cannot be written as UTF-8, so a tokenizer that contained it could not be saved."""
    with_surrogate, with_mark = (f"a {each} b a {each} b\n" * 5 for each in ("\ud83d", "?"))
    tokenizer = learn_tokenizer(kind, with_surrogate)
    assert tokenizer.to_json() == learn_tokenizer(kind, with_mark).to_json()
    assert tokenizer.to_json().encode()
    assert tokenizer.decode(tokenizer.encode(with_surrogate)).count("?") == 10


@pytest.mark.parametrize("kind", TokenizerKind)
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_corpus_is_an_error(kind, text):
    with pytest.raises(InputError, match="empty or blank"):
        learn_tokenizer(kind, text)


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("bpe", 100_000, "is 100000, but the text only gives"),
        ("words", 1000, "is 1000, but the text only gives"),
        ("bpe", 255, "`vocabulary` must be at least 256, got 255"),
        ("words", 1, "`vocabulary` must be at least 2, got 1"),
        ("characters", 65, "cannot be chosen for characters"),
        (
            "syllables",
            None,
            "unknown `tokenizer` .syllables.; choose from characters, bpe, word-pairs, words",
        ),
    ],
)
def test_an_impossible_vocabulary_is_an_error(kind, size, message):
    with pytest.raises(InputError, match=message):
        learn_tokenizer(kind, TEXT, vocabulary=size)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"kind": "x", "tokens": ""}', '{"kind": "bpe", "tokens": {}}']
)
def test_json_of_anything_else_is_an_error(content):
    with pytest.raises(InputError, match="cannot read the tokenizer"):
        tokenizer_from_json(content)
