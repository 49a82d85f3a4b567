"""Texts as words, with their labels and what was computed of them once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.gates.word_vectors import sentence_starts

_POOL = 16  # batches drawn at random together, then sorted by length among themselves


@dataclass(frozen=True)
class Corpus:
    """Texts to learn rationales from.

    texts: the words of each   labels: (texts,), numbers of labels
    vectors: (words, width), what the gates read   opinions: (words,), π or NaN for none
    """

    texts: Sequence[Sequence[str]]
    labels: Tensor
    vectors: NDArray[np.float16]
    opinions: NDArray[np.float32] | None = None
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", sentence_starts(self.texts))
        words = int(self.starts[-1])
        if len(self.labels) != len(self.texts) or len(self.vectors) != words:
            raise ValueError(
                f"one label a text and one vector a word: {len(self.texts)} texts with "
                f"{len(self.labels)} labels, {words} words with {len(self.vectors)} vectors"
            )
        if self.opinions is not None and len(self.opinions) != words:
            raise ValueError(f"one π a word: {words} words, {len(self.opinions)} of them")

    def words(self, indices: Sequence[int]) -> list[Sequence[str]]:
        """The words of some texts."""
        return [self.texts[i] for i in indices]

    def vectors_of(self, indices: Sequence[int], device: torch.device) -> Tensor:
        """The vectors of their words: (words, width)."""
        return torch.from_numpy(self.vectors[self._rows(indices)]).to(device, torch.float32)

    def opinions_of(self, indices: Sequence[int], device: torch.device) -> Tensor | None:
        """π of their words, if there is any: (words,)."""
        if self.opinions is None:
            return None
        return torch.from_numpy(self.opinions[self._rows(indices)]).to(device)

    def text_of_word(self, indices: Sequence[int], device: torch.device) -> Tensor:
        """For each of their words, which of the texts it belongs to: (words,)."""
        lengths = torch.tensor([len(self.texts[i]) for i in indices], device=device)
        return torch.repeat_interleave(lengths)

    def _rows(self, indices: Sequence[int]) -> NDArray[np.int64]:
        return np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in indices])


def per_text(values: Tensor, texts: Sequence[Sequence[str]]) -> list[Tensor]:
    """Values of words, texts one after the other, as one tensor a text: each (words,)."""
    return list(torch.split(values, [len(words) for words in texts]))


def split(texts: int, *, share: float, seed: int, most: int = 500) -> tuple[list[int], list[int]]:
    """Numbers of texts to learn from, and of those held out to choose by: at least one of each."""
    order = np.random.default_rng(seed).permutation(texts).tolist()
    held_out = min(max(1, round(share * texts)), most, texts - 1)
    return sorted(order[held_out:]), sorted(order[:held_out])


def endless_batches(
    indices: Sequence[int], lengths: Sequence[int], *, size: int, seed: int
) -> Iterator[list[int]]:
    """Batches of like length for ever; every text comes once before any comes again."""
    draw = np.random.default_rng([seed, 1])
    while True:
        shuffled = draw.permutation(list(indices)).tolist()
        for low in range(0, len(shuffled), size * _POOL):
            pool = sorted(shuffled[low : low + size * _POOL], key=lambda i: lengths[i])
            batches = [pool[i : i + size] for i in range(0, len(pool), size)]
            yield from (batches[i] for i in draw.permutation(len(batches)))
