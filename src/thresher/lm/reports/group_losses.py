"""The loss of each frequency group, with the number of occurrences and a confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from thresher.lm.reports.evaluation import Evaluation, TokenSums
from thresher.lm.reports.frequency_groups import FrequencyGroup, frequency_groups
from thresher.lm.trained_model import TrainedLanguageModel

NORMAL_QUANTILE = 1.96  # half the width of a 95 % interval, in standard errors
# The same for a mean of 2, 3, … numbers: quantiles of Student's t with 1, 2, … degrees of freedom.
_STUDENT_QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201)


@dataclass(frozen=True)
class Estimate:
    """A mean with half the width of its 95 % confidence interval, NaN where it is unknown."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "–"
        return f"{self.mean:.3f}" + (
            "" if math.isnan(self.half_width) else f"±{self.half_width:.3f}"
        )

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates, as if their errors were independent."""
        return Estimate(self.mean - other.mean, math.hypot(self.half_width, other.half_width))


@dataclass(frozen=True)
class GroupLoss:
    """The loss of the tokens of a group, and how often they occur in the evaluated text."""

    name: str
    loss: Estimate
    occurrences: int


def group_losses(trained: TrainedLanguageModel, evaluation: Evaluation) -> list[GroupLoss]:
    """Return the loss of each frequency group: the mean over its tokens, each counted once."""
    sums = evaluation.tokens
    return [
        GroupLoss(group.name, group_loss(sums, group), int(sums.count[group.tokens].sum()))
        for group in frequency_groups(trained.counts)
    ]


def overall_loss(evaluation: Evaluation) -> Estimate:
    """Return the mean loss over all positions."""
    sums = evaluation.tokens
    count = sums.count.sum()
    variance = (sums.squared_loss.sum() / count - (sums.loss.sum() / count) ** 2).clamp(min=0)
    return Estimate(evaluation.loss, NORMAL_QUANTILE * math.sqrt(variance / count))


def group_loss(sums: TokenSums, group: FrequencyGroup) -> Estimate:
    """Return the mean over tokens of their mean losses, and what resampling positions changes.

    The interval is that of a bootstrap over the positions of each token, in closed form: the
    variance of a token's mean is the variance of its losses over their number. A token that occurs
    once has the variance of the group.
    """
    count, loss, squared = (
        each[group.tokens] for each in (sums.count, sums.loss, sums.squared_loss)
    )
    seen = count > 0
    if not seen.any():
        return Estimate(math.nan, math.nan)
    count, loss, squared = count[seen], loss[seen], squared[seen]
    means = loss / count
    spread = (squared - count * means.square()).clamp(min=0)  # Σ (x − mean)² of each token
    pooled = spread.sum() / (count - 1).sum().clamp(min=1)
    variance = torch.where(count > 1, spread / (count - 1).clamp(min=1), pooled)
    error = math.sqrt((variance / count).sum()) / len(count)
    return Estimate(means.mean().item(), NORMAL_QUANTILE * error)


def mean_over_seeds(losses: Sequence[float]) -> Estimate:
    """Return the mean of several runs, with an interval from their spread (Student's t)."""
    values = torch.tensor(losses, dtype=torch.float64)
    if len(values) < 2:
        return Estimate(values.mean().item(), math.nan)
    freedom = min(len(values) - 1, len(_STUDENT_QUANTILES))
    error = values.std().item() / math.sqrt(len(values))
    return Estimate(values.mean().item(), _STUDENT_QUANTILES[freedom - 1] * error)
