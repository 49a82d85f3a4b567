"""Words as token ids, each word looked up once: few words of running text are new."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

REMEMBERED = 1 << 17  # words; all are forgotten when there would be more, so memory is bounded

Ids = NDArray[np.int64]


class SubwordTokenizer:
    """The token ids of case-folded words, each word taken by itself.

    Equal to `tokenizer.encode([word.casefold()], is_pretokenized=True, add_special_tokens=False)`.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, Sequence[int]] = {}

    def ids(self, words: Sequence[str]) -> tuple[Ids, Ids]:
        """The ids of all words in turn, (tokens,), and how many each word has, (words,)."""
        known = self._knowing(set(words))
        return flatten_ids([known[word] for word in words])

    def _knowing(self, words: set[str]) -> dict[str, Sequence[int]]:
        if len(self._known) + len(words) > REMEMBERED:
            self._known = {}
        known = self._known
        if new := [word for word in words if word not in known]:
            # Half of a surrogate pair is no character, though Python lets it be one.
            folded = [[word.casefold().encode("utf-8", "replace").decode()] for word in new]
            encodings = self._tokenizer.encode_batch(
                folded, is_pretokenized=True, add_special_tokens=False
            )
            known.update((word, each.ids) for word, each in zip(new, encodings, strict=True))
        return known


def flatten_ids(of_words: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """The ids of all words in turn, (tokens,), and how many each word has, (words,)."""
    counts = np.fromiter(map(len, of_words), dtype=np.int64, count=len(of_words))
    tokens = int(counts.sum())
    return np.fromiter(chain.from_iterable(of_words), dtype=np.int64, count=tokens), counts
