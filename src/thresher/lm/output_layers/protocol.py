"""The interface of output layers: from hidden states to a distribution over the vocabulary."""

from typing import Protocol

import torch
from torch import Tensor


class OutputLayer(Protocol):
    """Turns hidden states into a loss to train on, and into one normalised distribution.

    Layers differ in how they are trained and what that costs; compare them by `log_prob`.

    hidden: (…, width)   target: (…)
    """

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        ...

    def loss(
        self,
        hidden: Tensor,
        target: Tensor,
        *,
        reduction: str = "mean",
        ignore_index: int = -100,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the training loss: () or, with `reduction="none"`, the shape of target.

        generator: for the layers that are trained on random samples
        """
        ...

    def log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        """Return log p(target | hidden), normalised over the vocabulary: the shape of target."""
        ...

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """Return log p of every token: (…, vocabulary)."""
        ...

    def sample(self, hidden: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
        """Draw a token from p for each hidden state: (…), int64."""
        ...
