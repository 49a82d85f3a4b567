"""How wide the margin should be. A fixed margin is just a number; here are the other choices."""

import math

import torch
from torch import Tensor


def scheduled_margin(step: int, *, start: float, end: float, steps: int) -> float:
    """In a straight line from `start` at step 0 to `end` at step `steps`; `end` from there on."""
    if steps < 1:
        raise ValueError(f"a schedule takes at least 1 step, got {steps}")
    if not (0 <= start < math.inf and 0 <= end < math.inf):
        raise ValueError(f"start and end must be at least 0 and finite, got {start} and {end}")
    done = min(max(step / steps, 0.0), 1.0)
    return start + (end - start) * done


@torch.no_grad()
def norm_scaled_margin(
    hidden: Tensor, weight: Tensor, target: Tensor, *, alpha: float = 0.0625
) -> Tensor:
    """α·‖w_target‖·‖h‖: the same angle for all, however long their vectors.

    A logit is ‖w_j‖·‖h‖·cos, so among vectors as long as the target's the survivors are those with
    cos ≥ cos_target − α. Targets that are no class (ignored ones) get a margin of zero.

    hidden: (…, width)   weight: (vocabulary, width)   target: (…)   returns: (…), no gradient
    """
    if not alpha >= 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    is_class = (target >= 0) & (target < weight.shape[0])
    precise = torch.promote_types(hidden.dtype, torch.float32)
    # Rows of the targets alone: the norms of a whole vocabulary would be read for nothing.
    rows = weight[target.masked_fill(~is_class, 0)].to(precise)
    margin: Tensor = alpha * rows.norm(dim=-1) * hidden.to(precise).norm(dim=-1)
    return margin.masked_fill(~is_class, 0)


def top_p_margin(vocabulary: int, *, p: float) -> float:
    """ln V − ln(1 − p): wide enough that the survivors hold the most likely tokens of mass p.

    A token that does not survive has p_j < p_target·(1 − p) / V, and there are fewer than V of
    them, so together they hold less than p_target·(1 − p). The survivors therefore

    - hold at least 1 − p_target·(1 − p) ≥ p of the full softmax's mass, whatever the target;
    - contain its nucleus, the fewest likeliest tokens that reach p (they are the likeliest too);
    - give a loss below the full cross-entropy by at most −ln p.
    """
    if vocabulary < 1:
        raise ValueError(f"a vocabulary holds at least 1 token, got {vocabulary}")
    if not 0 <= p <= 1:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    return math.inf if p == 1 else math.log(vocabulary) - math.log1p(-p)
