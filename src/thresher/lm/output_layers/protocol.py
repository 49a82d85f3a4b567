"""What an output layer is: from a hidden state to the next token."""

from typing import Protocol

import torch
from torch import Tensor


class OutputLayer(Protocol):
    """Turns hidden states into a loss to train on, and into one normalised distribution.

    Layers differ in how they are trained and in what that costs; they are compared by `log_prob`.

    hidden: (…, width)   target: (…)
    """

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
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
        """What to minimise: () or, with `reduction="none"`, the shape of target.

        `generator` draws the noise of the layers that are trained on samples.
        """
        ...

    def log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        """log p(target | hidden), normalised over the vocabulary: the shape of target."""
        ...

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """log p of every token: (…, vocabulary)."""
        ...

    def sample(self, hidden: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
        """A token for each hidden state, drawn from p: (…), int64."""
        ...
