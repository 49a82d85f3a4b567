"""Find the maximum-entropy distribution of binary labels with given expected rates.

Every item has an unknown binary label. For some features, the rate of positives among the items
with this feature is given: "85 % of capitalised words", "12 % of all words". Of all distributions
of the labels with these rates, the one with the largest entropy makes the fewest assumptions: its
labels are independent, with pᵢ = σ(Σₖ λₖ·fᵢₖ).

Items with the same features share one p, so the time depends on the number of distinct rows and
hardly on the number of items.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.maths.expectation_dual import Problem, solve

OVERALL = "overall"


@dataclass(frozen=True)
class MaximumEntropy:
    """The probability of each item, and the weights it follows from.

    probability: (items,), float64
    weights: λ of each expectation. The probability of an item is σ of the sum of the weights of its
        features, unless an expectation forces it to 0 or 1. An expectation whose items are all
        forced has no finite weight and is left out.
    """

    probability: Tensor
    weights: dict[str, float]


class ContradictoryExpectationsError(ValueError):
    """No distribution has all rates in `conflict`; without any one of them there is one."""

    def __init__(self, conflict: Mapping[str, float], counts: Mapping[str, int]) -> None:
        self.conflict = tuple(conflict)
        rates = ", ".join(
            f"{name} = {rate:g} ({rate * counts[name]:g} of {counts[name]} items)"
            for name, rate in conflict.items()
        )
        super().__init__(f"no distribution meets these rates together: {rates}; change one")


def maximum_entropy(
    features: Mapping[str, Tensor] | Tensor,
    rates: Mapping[str, float],
    *,
    overall: float | None = None,
    names: Sequence[str] = (),
) -> MaximumEntropy:
    """Maximise Σᵢ H(pᵢ) such that the mean pᵢ of the items with feature k is rates[k], for every k.

    Features without a rate are ignored. Items without any feature have p = ½ unless `overall` is
    given. Rates of 0 and 1 fix their items exactly; the others are met within 1e-9.

    features: name → (items,), bool or 0/1; or one tensor (items, features) and its `names`
    overall: the rate of all items
    """
    columns, all_rates = _columns_with_rates(features, rates, names), dict(rates)
    if overall is not None:
        if OVERALL in all_rates:
            raise ValueError(f"with `overall`, no feature may be called {OVERALL!r}")
        columns = torch.cat([columns, columns.new_ones(len(columns), 1)], dim=1)
        all_rates[OVERALL] = overall
    counts = dict(zip(all_rates, columns.sum(0).tolist(), strict=True))
    _check_rates(all_rates, counts)

    fires, membership = _distinct_rows(columns)
    size = torch.bincount(membership, minlength=len(fires)).double()
    rate = torch.tensor(list(all_rates.values()), dtype=torch.float64, device=size.device)
    problem = Problem(fires, size, target=rate * (size @ fires))
    solution = solve(problem)
    if solution is None:
        order = list(all_rates)
        conflict = {order[k]: all_rates[order[k]] for k in _minimal_conflict(problem)}
        raise ContradictoryExpectationsError(conflict, counts)
    probability, weights = solution
    named = dict(zip(all_rates, weights.tolist(), strict=True))
    finite = {name: weight for name, weight in named.items() if not math.isnan(weight)}
    return MaximumEntropy(probability[membership], finite)


def _minimal_conflict(problem: Problem) -> list[int]:
    """Return expectations that contradict, of which none can be left out.

    Leaves out one after another, and keeps it out if the others still contradict.
    """
    kept = torch.ones_like(problem.target, dtype=torch.bool)
    everything = torch.ones_like(problem.size, dtype=torch.bool)
    for k in range(len(kept)):
        kept[k] = False
        if solve(problem.subset(everything, kept)) is not None:
            kept[k] = True
    return kept.nonzero().flatten().tolist()


def _distinct_rows(columns: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct rows (groups, columns) as float64, and the group of each item (items,).

    Rows are read as binary numbers, 30 columns at a time: far faster than comparing rows.
    """
    membership = torch.zeros(len(columns), dtype=torch.long, device=columns.device)
    for start in range(0, columns.shape[1], 30):
        chunk = columns[:, start : start + 30]
        digits = 2 ** torch.arange(chunk.shape[1], device=columns.device)
        code = membership * 2**30 + (chunk * digits).sum(1)
        membership = torch.unique(code, return_inverse=True)[1]
    groups = int(membership.max()) + 1 if len(membership) else 0
    fires = columns.new_zeros(groups, columns.shape[1])
    fires[membership] = columns
    return fires.double(), membership


def _columns_with_rates(
    features: Mapping[str, Tensor] | Tensor, rates: Mapping[str, float], names: Sequence[str]
) -> Tensor:
    """Return the features that have a rate, in the order of the rates: (items, rates), bool."""
    if isinstance(features, Tensor):
        table, names = features, list(names)
    else:
        table, names = _as_table(features), list(features)
    if table.dim() != 2 or table.shape[1] != len(set(names)):
        columns = f"with a column for each of {len(set(names))} different names"
        raise ValueError(f"`features` must be (items, features) {columns}, got {_shape(table)}")
    binary = (table == 0) | (table == 1)
    if not bool(binary.all()):
        raise ValueError(f"`features` must be 0 or 1, got {table[~binary][0].item()}")
    for name in rates:
        if name not in names:
            raise ValueError(f"unknown feature {name!r}; choose from {', '.join(names)}")
    return table[:, [names.index(name) for name in rates]].bool()


def _as_table(features: Mapping[str, Tensor]) -> Tensor:
    shapes = {name: _shape(column) for name, column in features.items()}
    if len(set(shapes.values())) != 1:
        raise ValueError(f"all `features` must have the same shape (items,), got {shapes}")
    return torch.stack(list(features.values()), dim=-1)


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def _check_rates(rates: Mapping[str, float], counts: Mapping[str, int]) -> None:
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            raise ValueError(f"a rate must be between 0 and 1, got {name} = {rate}")
        if counts[name] == 0:
            raise ValueError(
                f"{name} = {rate} cannot be met: no item has the feature {name!r}; remove the rate"
            )
