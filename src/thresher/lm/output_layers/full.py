"""The full softmax over all tokens, trained on the margin loss, and with adjusted logits."""

import math
from typing import Any, TypedDict, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy, loss_sum_and_rows
from thresher.lm.losses.margin import MarginRule
from thresher.lm.losses.options import LogitScaling, MarginLossOptions
from thresher.lm.losses.rare_tokens import logit_adjustment
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.output_layers.module import OutputModule, initial_weight
from thresher.lm.tokens.counts import checked_frequencies


class SoftmaxOptions(TypedDict, total=False):
    """The options of `FullSoftmax` that its variants accept too."""

    weight: nn.Parameter | None
    bias: bool
    margin: float | MarginRule


class FullSoftmax(OutputModule):
    """p(w | h) = softmax(W·h + b)_w, trained on the margin loss (by default plain cross-entropy).

    weight: (vocabulary, width), to share it with an embedding; by default a new one
    margin: a number, or a function of (hidden, weight, target) such as `norm_scaled_margin`; may be
    set to a new value at every step
    fused: compute the loss without holding the logits of a whole batch: less memory, and on a GPU
    faster; may be changed at any time

    adjustment: None, or (vocabulary,), added to the logits in the training loss only; not saved
    """

    adjustment: Tensor | None

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        weight: nn.Parameter | None = None,
        bias: bool = True,
        margin: float | MarginRule = math.inf,
        label_smoothing: float = 0.0,
        softcap: float | None = None,
        fused: bool = False,
    ) -> None:
        super().__init__(width, vocabulary)
        LogitScaling(softcap=softcap)  # raises if it is out of range
        if weight is not None and weight.shape != (vocabulary, width):
            shape = tuple(weight.shape)
            raise ValueError(f"`weight` must be ({vocabulary}, {width}), got {shape}")
        if fused and not self.can_be_fused():
            raise ValueError("`fused` computes no logits, which this output layer would change")
        self.weight = initial_weight(vocabulary, width) if weight is None else weight
        self.bias = nn.Parameter(torch.zeros(vocabulary)) if bias else None
        self.margin = margin
        self.label_smoothing = label_smoothing
        self.softcap = softcap
        self.fused = fused
        self.register_buffer("adjustment", None, persistent=False)

    @classmethod
    def can_be_fused(cls) -> bool:
        """Whether the loss can be computed from hidden states: not if a subclass changes logits."""
        return cls._training_logits is FullSoftmax._training_logits

    def loss_sum(
        self,
        hidden: Tensor,
        target: Tensor,
        *,
        ignore_index: int = -100,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the sum of the losses, and the loss of each position without a gradient."""
        if not self.fused:
            return super().loss_sum(hidden, target, ignore_index=ignore_index, generator=generator)
        self._check(hidden, target, ignore_index)
        rows, row_target = hidden.reshape(-1, self.width), target.reshape(-1)
        options = MarginLossOptions(
            margin=self._row_margins(rows, row_target),
            ignore_index=ignore_index,
            label_smoothing=self.label_smoothing,
            softcap=self.softcap,
        )
        total, losses = loss_sum_and_rows(
            LinearInputs(rows, self.weight, row_target, self._training_bias()), options
        )
        return total, losses.reshape(target.shape)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return unnormalised log-probabilities, soft-capped: (…, vocabulary)."""
        logits = functional.linear(hidden, self.weight, self.bias)
        return LogitScaling(softcap=self.softcap).scale(logits)

    def _reduced_loss(
        self, hidden: Tensor, target: Tensor, generator: torch.Generator | None, **options: Any
    ) -> Tensor:
        rows, row_target = hidden.reshape(-1, self.width), target.reshape(-1)
        margin = self._row_margins(rows, row_target)
        options |= {"margin": margin, "label_smoothing": self.label_smoothing}
        margin_loss = self._fused_loss if self.fused else self._loss
        loss = margin_loss(rows, row_target, **options)
        return loss.reshape(target.shape) if options["reduction"] == "none" else loss

    def _row_margins(self, hidden: Tensor, target: Tensor) -> float | Tensor:
        """Return the margin, or one for each row if there is a rule: (rows,)."""
        rule = self.margin
        return rule(hidden, self.weight, target) if callable(rule) else rule

    def _loss(self, hidden: Tensor, target: Tensor, **options: Any) -> Tensor:
        return selfish_cross_entropy(self._training_logits(hidden, target), target, **options)

    def _fused_loss(self, hidden: Tensor, target: Tensor, **options: Any) -> Tensor:
        bias = self._training_bias()
        return linear_selfish_cross_entropy(
            hidden, self.weight, target, bias=bias, softcap=self.softcap, **options
        )

    def _training_bias(self) -> Tensor | None:
        """Return the bias of the fused loss, which includes the adjustment: (vocabulary,)."""
        if self.adjustment is None:
            return self.bias
        if self.softcap is not None:
            raise ValueError("`fused` supports a logit adjustment only without `softcap`")
        return self.adjustment if self.bias is None else self.bias + self.adjustment

    def _training_logits(self, hidden: Tensor, target: Tensor) -> Tensor:
        """Return the logits for training, which a subclass may change: (rows, vocabulary)."""
        logits = self.logits(hidden)
        return logits if self.adjustment is None else logits + self.adjustment

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        return -functional.cross_entropy(self.logits(hidden), target, reduction="none")

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        return self.logits(hidden).log_softmax(-1)


class AdjustedSoftmax(FullSoftmax):
    """p(w | h) = softmax(z)_w, trained as softmax(z + τ·log unigram) (Menon et al. 2021).

    So the logits do not have to learn how frequent each token is. Under p rare tokens are likelier
    than in the text: its perplexity on the text is higher, its accuracy on rare tokens better.
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        tau: float = 1.0,
        frequencies: Tensor | None = None,
        **options: Unpack[SoftmaxOptions],
    ) -> None:
        super().__init__(width, vocabulary, **options)
        frequencies = checked_frequencies(frequencies, vocabulary)
        self.register_buffer("adjustment", logit_adjustment(frequencies, tau=tau))
