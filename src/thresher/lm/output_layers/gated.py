"""The full softmax with adaptive gradient gating."""

import math

import torch
from torch import Tensor, nn

from thresher.lm.losses.margin import MarginRule
from thresher.lm.losses.rare_tokens.gradient_gating import gated_linear, gradient_gates
from thresher.lm.output_layers.full import FullSoftmax


class GatedSoftmax(FullSoftmax):
    """p(w | h) = softmax(W·h + b)_w; in training, rare rows of W feel little of others' contexts.

    Which tokens are rare is seen on the way: a token is gated if it was a target fewer than
    `threshold` times for one step, averaged over about the last `memory` steps (Yu et al. 2022).
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
        weight: nn.Parameter | None = None,
        bias: bool = True,
        margin: float | MarginRule = math.inf,
    ) -> None:
        super().__init__(width, vocabulary, weight=weight, bias=bias, margin=margin)
        if memory < 1:
            raise ValueError(f"memory must be at least 1 step, got {memory}")
        self.memory = memory
        self.threshold = threshold
        self.register_buffer("appearances", torch.zeros(vocabulary))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def rates(self) -> Tensor:
        """How often each token was a target for one step of late: (vocabulary,).

        A moving average, divided by the weight of the steps there have been so far.
        """
        return self.appearances / (1 - (1 - 1 / self.memory) ** self.steps.clamp(min=1))

    def _training_logits(self, hidden: Tensor, target: Tensor) -> Tensor:
        if self.training:
            self._remember(target)
        gates = gradient_gates(self.rates(), threshold=self.threshold)
        logits = gated_linear(hidden, self.weight, target, gates)
        return logits if self.bias is None else logits + self.bias

    @torch.no_grad()
    def _remember(self, target: Tensor) -> None:
        tokens = target[(target >= 0) & (target < self.vocabulary)]
        counts = torch.bincount(tokens, minlength=self.vocabulary).to(self.appearances.dtype)
        self.appearances.lerp_(counts, 1 / self.memory)
        self.steps += 1
