"""Byte-level byte-pair encoding (BPE)."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import regex
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Ids, Tokenizer, replace_surrogates
from thresher.text.segmentation.word_pattern import MAX_WORD_LENGTH

LEARNING_CHARACTERS = 1 << 25  # from which merges are learned; more change few of them

_KINDS = (r"\p{L}", r"\p{N}", r"\s", r"[^\s\p{L}\p{N}]")  # the runs that the library splits at
_LONG_RUN = regex.compile("|".join(f"{kind}{{{MAX_WORD_LENGTH}}}(?={kind})" for kind in _KINDS))


class BytePairTokenizer(Tokenizer):
    """Byte-level BPE: single bytes and frequent sequences of them, so it encodes any text."""

    kind = TokenizerKind.BPE
    lossless = True

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.names = [self._name(token) for token in range(tokenizer.get_vocab_size())]

    @classmethod
    def learn(cls, text: TextRange, vocabulary: int) -> "BytePairTokenizer":
        """Learn at most `vocabulary` tokens; pairs that occur only once are not merged.

        A text of more than `LEARNING_CHARACTERS` is sampled, so that the memory is limited.
        """
        pieces = text.pieces(limit=LEARNING_CHARACTERS)
        lines = (part for piece in pieces for line in _lines(piece) for part in _cut(line))
        return cls(train_bpe(lines, vocabulary, split_at_words=True))

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids; no token extends over the end of a line."""
        for piece in text.pieces():
            encodings = self._tokenizer.encode_batch_fast(_lines(piece))
            yield np.fromiter((i for each in encodings for i in each.ids), np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids; bytes that are not valid UTF-8 become U+FFFD."""
        return str(self._tokenizer.decode(list(ids)))

    def _name(self, token: int) -> str:
        """Return the token's text, or for a part of a character the library's name of its bytes."""
        text = self.decode([token])
        return str(self._tokenizer.id_to_token(token)) if "\ufffd" in text else text

    def _json_content(self) -> Any:
        return json.loads(self._tokenizer.to_str())


def train_bpe(
    texts: Iterable[str], vocabulary: int, *, split_at_words: bool
) -> tokenizers.Tokenizer:
    """Train a byte-level BPE tokenizer.

    split_at_words: do not merge across words; otherwise each text is a unit of its own
    """
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=split_at_words
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _cut(line: str) -> list[str]:
    """Cut a line in runs of more than MAX_WORD_LENGTH letters, digits, signs or spaces.

    The time to learn from one such run is quadratic in its length.
    """
    if len(line) <= MAX_WORD_LENGTH:
        return [line]
    ends = [0, *(match.end() for match in _LONG_RUN.finditer(line)), len(line)]
    return [line[start:end] for start, end in pairwise(ends) if start < end]


def _lines(text: str) -> list[str]:
    """Return the lines with their line ends, so that joining them gives the text."""
    return list(map(replace_surrogates, text.splitlines(keepends=True)))
