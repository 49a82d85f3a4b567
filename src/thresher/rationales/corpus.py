"""Labelled texts with the vectors of their words, from which gates are trained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.gates.batching import shuffled_batches
from thresher.gates.word_vectors import EncodedCorpus

_MAX_HELD_OUT = 500  # texts


@dataclass(frozen=True)
class LabelledCorpus(EncodedCorpus):
    """Encoded texts (each is one of the `sentences`) with their labels.

    labels: (texts,), indices of labels
    prior: (words,), π of each word, NaN where it gives no probability; None for no prior
    """

    labels: Tensor
    prior: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.labels) != len(self.sentences):
            raise ValueError(
                f"there must be one label per text: {len(self.sentences)} texts, "
                f"got {len(self.labels)}"
            )
        if self.prior is not None:
            self.require_one_per_unit("prior probability", self.prior)

    def prior_of(self, indices: Sequence[int], device: torch.device) -> Tensor | None:
        """Return π of the words of some texts, if there is a prior: (words,)."""
        return None if self.prior is None else self.values_of(self.prior, indices, device)

    def text_of_word(self, indices: Sequence[int], device: torch.device) -> Tensor:
        """Return the position, among these texts, of the text of each word: (words,)."""
        lengths = torch.tensor([len(self.sentences[i]) for i in indices], device=device)
        return torch.repeat_interleave(lengths)


def split_by_text(values: Tensor, texts: Sequence[Sequence[str]]) -> list[Tensor]:
    """Split the values of all words into one tensor per text: each (words,)."""
    return list(torch.split(values, [len(words) for words in texts]))


def hold_out_texts(texts: int, *, fraction: float, seed: int) -> tuple[list[int], list[int]]:
    """Return the indices of texts to train on, and of held-out texts: at least one of each."""
    order = np.random.default_rng(seed).permutation(texts).tolist()
    held_out = min(max(1, round(fraction * texts)), _MAX_HELD_OUT, texts - 1)
    return sorted(order[held_out:]), sorted(order[:held_out])


def endless_batches(
    indices: Sequence[int], lengths: Sequence[int], *, texts_per_batch: int, seed: int
) -> Iterator[list[int]]:
    """Yield random batches of texts of similar length, epoch after epoch, without end.

    lengths: the number of words of each text
    """
    generator = np.random.default_rng([seed, 1])
    while True:
        yield from shuffled_batches(
            indices, np.asarray(lengths), sentences_per_batch=texts_per_batch, generator=generator
        )
