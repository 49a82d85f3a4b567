"""The margin of the loss: a value type for its notation, and the rules behind each notation.

A token takes part in the loss if its logit is at least `logit of the target - margin`. A training
run writes its margin as one of

    4            a fixed margin; `inf` is plain cross-entropy
    2:12         from 2 to 12, in a straight line over the training steps (`scheduled_margin`)
    norm:0.0625  a margin for each position, from the norms of its vectors (`norm_scaled_margin`)
    top-p:0.9    keeps the most likely tokens of total probability 0.9 (`top_p_margin`)
    auto         a number that depends on token counts and training length (`auto_margin`)

Importing this module does not import torch, so that the command line can check a margin quickly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from thresher.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

MarginRule = Callable[["Tensor", "Tensor", "Tensor"], "Tensor"]
"""Returns a margin for each position from (hidden, weight, target), as `norm_scaled_margin`."""


class MarginKind(StrEnum):
    """How a margin is determined; see the notation above."""

    FIXED = "fixed"
    SCHEDULED = "scheduled"
    NORM = "norm"
    TOP_P = "top-p"
    AUTO = "auto"


@dataclass(frozen=True)
class Margin:
    """The margin of a training run; make one with `Margin.parse`.

    numbers: the margin itself; start and end of a schedule; α of `norm:α`; or p of `top-p:p`
    text: the notation it was parsed from, as saved in configs
    """

    kind: MarginKind
    numbers: tuple[float, ...]
    text: str = field(compare=False)

    @classmethod
    def parse(cls, margin: "Margin | str | float") -> "Margin":
        """Return the margin that a text such as "4", "2:12", "norm:0.0625" or "inf" describes."""
        if isinstance(margin, Margin):
            return margin
        text = margin if isinstance(margin, str) else repr(margin).removesuffix(".0")
        prefix, colon, rest = text.partition(":")
        try:
            if text == MarginKind.AUTO:
                return cls(MarginKind.AUTO, (), text)
            if not colon:
                parsed = cls(MarginKind.FIXED, (float(text),), text)
            elif prefix in (MarginKind.NORM, MarginKind.TOP_P):
                parsed = cls(MarginKind(prefix), (float(rest),), text)
            else:
                parsed = cls(MarginKind.SCHEDULED, (float(prefix), float(rest)), text)
            parsed.at(step=0, steps=1, vocabulary=2)  # raises if a number is out of range
        except ValueError as error:
            raise InputError(
                "`margin` must be a number of at least 0 (inf for plain cross-entropy), 2:12 to go "
                f"from 2 to 12 during training, norm:0.0625, top-p:0.9 or auto, got {text!r}"
            ) from error
        return parsed

    @property
    def is_infinite(self) -> bool:
        """Whether every token survives, as in plain cross-entropy."""
        is_auto = self.kind == MarginKind.AUTO
        return not is_auto and self.at(step=0, steps=1, vocabulary=2) == math.inf

    def at(self, *, step: int, steps: int, vocabulary: int) -> float | MarginRule:
        """Return the margin at a training step: a number, or a function of the vectors.

        steps: of the whole run   vocabulary: the number of tokens
        """
        match self.kind:
            case MarginKind.SCHEDULED:
                start, end = self.numbers
                return scheduled_margin(step, start=start, end=end, steps=max(1, steps))
            case MarginKind.TOP_P:
                return top_p_margin(vocabulary, p=self.numbers[0])
            case MarginKind.NORM:
                alpha = _at_least_zero(self.numbers[0])
                if alpha == math.inf:  # times a norm of zero, it would be NaN
                    raise ValueError("the factor of the norms must be finite")
                return partial(norm_scaled_margin, alpha=alpha)
            case MarginKind.FIXED:
                return _at_least_zero(self.numbers[0])
            case MarginKind.AUTO:
                raise ValueError("a margin of auto has no value; choose one with `auto_margin`")

    def __str__(self) -> str:
        return self.text


def scheduled_margin(step: int, *, start: float, end: float, steps: int) -> float:
    """Interpolate from `start` at step 0 to `end` at step `steps`; afterwards it stays at `end`."""
    if steps < 1:
        raise ValueError(f"`steps` must be at least 1, got {steps}")
    if not (0 <= start < math.inf and 0 <= end < math.inf):
        raise ValueError(f"`start` and `end` must be at least 0 and finite, got {start} and {end}")
    progress = min(max(step / steps, 0.0), 1.0)
    return start + (end - start) * progress


def norm_scaled_margin(
    hidden: "Tensor", weight: "Tensor", target: "Tensor", *, alpha: float = 0.0625
) -> "Tensor":
    """Return α·‖w_target‖·‖h‖, a margin in terms of angles.

    A logit is ‖w_j‖·‖h‖·cos, so among tokens whose vectors are as long as the target's those with
    cos ≥ cos_target − α survive. Targets outside the vocabulary (ignored ones) get a margin of 0.

    hidden: (…, width)   weight: (vocabulary, width)   target: (…)
    returns: (…), float32 or float64, without gradient
    """
    import torch  # noqa: PLC0415 (the module imports without torch)

    if not 0 <= alpha < math.inf:
        raise ValueError(f"`alpha` must be at least 0 and finite, got {alpha}")
    with torch.no_grad():
        is_class = (target >= 0) & (target < weight.shape[0])
        dtype = torch.promote_types(hidden.dtype, torch.float32)
        # Only the rows of the targets: there is no need to read the whole weight.
        rows = weight[target.masked_fill(~is_class, 0)].to(dtype)
        margin: Tensor = alpha * rows.norm(dim=-1) * hidden.to(dtype).norm(dim=-1)
        return margin.masked_fill(~is_class, 0)


def top_p_margin(vocabulary: int, *, p: float) -> float:
    """Return ln V − ln(1 − p): the survivors include the most likely tokens of total probability p.

    A token that does not survive has p_j < p_target·(1 − p) / V, and there are fewer than V of
    them, so together they have less than p_target·(1 − p). The survivors therefore

    - have at least 1 − p_target·(1 − p) ≥ p of the full softmax's probability, for any target;
    - contain its nucleus, the smallest set of the most likely tokens that reaches p;
    - give a loss below the full cross-entropy by at most −ln p.
    """
    if vocabulary < 1:
        raise ValueError(f"`vocabulary` must be at least 1, got {vocabulary}")
    if not 0 <= p <= 1:
        raise ValueError(f"`p` must lie in [0, 1], got {p}")
    return math.inf if p == 1 else math.log(vocabulary) - math.log1p(-p)


def _at_least_zero(value: float) -> float:
    if not value >= 0:
        raise ValueError(f"a margin must be at least 0, got {value}")
    return value


INFINITE_MARGIN = Margin.parse("inf")
