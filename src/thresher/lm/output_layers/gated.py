"""The full softmax with adaptive gradient gating."""

from typing import Unpack

import torch
from torch import Tensor

from thresher.lm.losses.rare_tokens import gated_linear, gradient_gates
from thresher.lm.output_layers.full import FullSoftmax, SoftmaxOptions


class GatedSoftmax(FullSoftmax):
    """p(w | h) = softmax(W·h + b)_w; gates reduce the push of other targets on rare rows of W.

    Rare tokens are found during training: a token is gated if it was a target fewer than
    `threshold` times per step, averaged over about the last `memory` steps (Yu et al. 2022).
    """

    appearances: Tensor
    steps: Tensor

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        memory: int = 1600,
        threshold: float = 0.02,
        **options: Unpack[SoftmaxOptions],
    ) -> None:
        super().__init__(width, vocabulary, **options)
        if memory < 1:
            raise ValueError(f"`memory` must be at least 1 step, got {memory}")
        self.memory = memory
        self.threshold = threshold
        self.register_buffer("appearances", torch.zeros(vocabulary))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def rates(self) -> Tensor:
        """Return how often per step each token was a target recently: (vocabulary,).

        An exponential moving average, divided by the total weight of the steps so far.
        """
        return self.appearances / (1 - (1 - 1 / self.memory) ** self.steps.clamp(min=1))

    def _training_logits(self, hidden: Tensor, target: Tensor) -> Tensor:
        if self.training:
            self._count_targets(target)
        gates = gradient_gates(self.rates(), threshold=self.threshold)
        logits = gated_linear(hidden, self.weight, target, gates)
        return logits if self.bias is None else logits + self.bias

    @torch.no_grad()
    def _count_targets(self, target: Tensor) -> None:
        tokens = target[(target >= 0) & (target < self.vocabulary)]
        counts = torch.bincount(tokens, minlength=self.vocabulary).to(self.appearances.dtype)
        self.appearances.lerp_(counts, 1 / self.memory)
        self.steps += 1
