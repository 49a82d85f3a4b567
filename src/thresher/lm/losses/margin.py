"""The margin of a training run, as one writes it: 4, 2:12, norm:0.0625, top-p:0.9 or inf."""

import math
from functools import partial

from thresher.errors import InputError
from thresher.lm.losses.margin_rules import norm_scaled_margin, scheduled_margin, top_p_margin
from thresher.lm.output_layers.full import MarginRule

NO_MARGIN = "inf"


def margin_at(plan: str, *, step: int, steps: int, vocabulary: int) -> float | MarginRule:
    """What `FullSoftmax.margin` is to be at a step.

    A number is fixed (`inf` is plain cross-entropy); `a:b` goes from a to b in a straight line;
    `norm:α` is `norm_scaled_margin`; `top-p:p` is `top_p_margin`.
    """
    kind, colon, value = plan.partition(":")
    try:
        if not colon:
            return _at_least_zero(float(plan))
        if kind == "norm":
            return partial(norm_scaled_margin, alpha=_at_least_zero(float(value)))
        if kind == "top-p":
            return top_p_margin(vocabulary, p=float(value))
        return scheduled_margin(step, start=float(kind), end=float(value), steps=max(1, steps))
    except ValueError as error:
        raise InputError(
            f"{plan!r} is no margin; write a number of at least 0 (inf for none), 2:12 to go from "
            "2 to 12, norm:0.0625 or top-p:0.9"
        ) from error


def has_margin(plan: str) -> bool:
    """Whether the plan is anything but plain cross-entropy; also checks how it is written."""
    return margin_at(plan, step=0, steps=1, vocabulary=2) != math.inf


def _at_least_zero(value: float) -> float:
    if not value >= 0:
        raise ValueError(value)
    return value
