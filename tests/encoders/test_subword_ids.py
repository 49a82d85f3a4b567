"""Words that a tokenizer keeps whole: three conventions, and a real tokenizer."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from thresher.encoders.subword_ids import whole_words


@pytest.mark.parametrize(
    "tokens",
    [
        ["[CLS]", "boat", "##s", "row", "7", "."],
        ["<s>", "▁boat", "s", "▁Row", "▁7", "▁."],
        ["<s>", "Ġboat", "s", "Ġrow", "Ġ7", "."],
    ],
)
def test_whole_words_are_found_for_each_tokenizer_convention(tokens: list[str]) -> None:
    assert whole_words(tokens) == {"boat", "row"}


def test_a_word_is_whole_if_and_only_if_the_tokenizer_keeps_it() -> None:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    text = ["the old boat rows home", "the boat is old", "a rower rows"] * 5
    tokenizer.train_from_iterator(
        text, trainers.WordPieceTrainer(vocab_size=40, special_tokens=["[UNK]"])
    )
    whole = whole_words(tokenizer.get_vocab())
    words = {word for line in text for word in line.split()}
    one_token = {word for word in words if len(tokenizer.encode(word).ids) == 1}
    assert whole & words == one_token
    assert words - one_token, "the vocabulary is too large to show anything"
