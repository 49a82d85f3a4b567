from collections import Counter

import pytest

from thresher.errors import InputError
from thresher.lm.tokens.factory import learn_tokenizer
from thresher.lm.tokens.words import UNKNOWN


def test_words_outside_the_vocabulary_are_one_token():
    tokenizer = learn_tokenizer("words", "a b a b a c .")
    assert tokenizer.names == [UNKNOWN, "a", "b"]
    assert tokenizer.encode("b a c a zebra").tolist() == [2, 1, 0, 1, 0]
    assert tokenizer.decode([2, 1, 0]) == f"b a {UNKNOWN}"


def test_the_most_frequent_words_are_kept():
    counts = Counter({"red": 5, "blue": 4, "ape": 3, "bee": 3, "cow": 1})
    text = " ".join(counts.elements())
    assert learn_tokenizer("words", text, vocabulary=4).names[1:] == ["red", "blue", "ape"]
    assert learn_tokenizer("words", text, vocabulary=6).vocabulary == 6


def test_words_that_all_occur_once_are_an_error():
    with pytest.raises(InputError, match="no word occurs twice"):
        learn_tokenizer("words", "all different here")
