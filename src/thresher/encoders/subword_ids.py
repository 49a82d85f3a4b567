"""Token ids of words, cached per word, and the words that are a single token."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

CACHE_SIZE = 1 << 17  # words; the cache is emptied when it would become larger

Ids = NDArray[np.int64]
_WORD_STARTS = ("▁", "Ġ")  # start of a word in SentencePiece and in byte-level BPE
_CONTINUATION = "##"  # any other part of a word in WordPiece


class SubwordTokenizer:
    """Tokenizes case-folded words, each word by itself.

    Equal to `tokenizer.encode([word.casefold()], is_pretokenized=True, add_special_tokens=False)`.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._cache: dict[str, Sequence[int]] = {}

    def ids(self, words: Sequence[str]) -> tuple[Ids, Ids]:
        """Return the ids of all words, (tokens,), and the number of tokens per word, (words,)."""
        cache = self._cache_with(set(words))
        return flatten_ids([cache[word] for word in words])

    def _cache_with(self, words: set[str]) -> dict[str, Sequence[int]]:
        if len(self._cache) + len(words) > CACHE_SIZE:
            self._cache = {}
        cache = self._cache
        if new := list(words.difference(cache)):
            # A lone surrogate is allowed in a Python string but cannot be encoded as UTF-8.
            folded = [[word.casefold().encode("utf-8", "replace").decode()] for word in new]
            encodings = self._tokenizer.encode_batch(
                folded, is_pretokenized=True, add_special_tokens=False
            )
            cache.update((word, each.ids) for word, each in zip(new, encodings, strict=True))
        return cache


def flatten_ids(ids_of_words: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Return the ids of all words, (tokens,), and the number of tokens per word, (words,)."""
    counts = np.fromiter(map(len, ids_of_words), dtype=np.int64, count=len(ids_of_words))
    tokens = int(counts.sum())
    return np.fromiter(chain.from_iterable(ids_of_words), dtype=np.int64, count=tokens), counts


def whole_words(vocabulary: Iterable[str]) -> frozenset[str]:
    """Return the case-folded words that are a single token.

    A tokenizer keeps a word whole if it was common in the text it was trained on. If tokens mark
    the start of a word, tokens without the mark are never whole words, so they are left out.
    """
    marked = {token[1:] for token in vocabulary if token.startswith(_WORD_STARTS)}
    words = marked or {token for token in vocabulary if not token.startswith(_CONTINUATION)}
    return frozenset(word.casefold() for word in words if word.isalpha())
