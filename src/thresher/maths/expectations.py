"""The distribution of largest entropy that meets stated expectations.

Every item has an unknown binary label. Of some features it is stated which share of the items
that fire them is positive: "85 % of capitalised words", "12 % of all words". Of all the
distributions over labels that meet these rates, one has the largest entropy and so assumes the
least: independent coins with pᵢ = σ(Σₖ λₖ·fᵢₖ).

Items that fire the same features share one p, so the work grows with the number of distinct
rows and hardly with the number of items.
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
    """A probability per item, and the weights that give it.

    probability: (items,), float64.
    weights: λ of each expectation. The probability of an item that no expectation forces to 0 or
        1 is σ of the summed weights of what it fires. An expectation all of whose items are
        forced has no finite weight and is left out.
    """

    probability: Tensor
    weights: dict[str, float]


class ContradictoryExpectationsError(ValueError):
    """No distribution meets the expectations named in `conflict`; any fewer of them can be met."""

    def __init__(self, conflict: Mapping[str, float], counts: Mapping[str, int]) -> None:
        self.conflict = tuple(conflict)
        stated = ", ".join(
            f"{name} = {rate:g} ({rate * counts[name]:g} of {counts[name]} items)"
            for name, rate in conflict.items()
        )
        super().__init__(f"no distribution meets these rates together: {stated}; change one")


def maximum_entropy(
    features: Mapping[str, Tensor] | Tensor,
    rates: Mapping[str, float],
    *,
    overall: float | None = None,
    names: Sequence[str] = (),
) -> MaximumEntropy:
    """Maximise Σᵢ H(pᵢ) where mean(pᵢ over the items that fire k) = rates[k] for every k.

    `overall` is the rate of all items. Features without a rate are ignored. Items that fire
    nothing have p = ½ unless `overall` says otherwise. Rates of 0 and 1 fix their items exactly;
    the others are met within 1e-9.

    features: name → (items,), bool or 0/1; or one tensor (items, features) and its `names`
    """
    columns, stated = _stated_columns(features, rates, names), dict(rates)
    if overall is not None:
        if OVERALL in stated:
            raise ValueError(f"a feature may not be called {OVERALL!r} beside {OVERALL}={overall}")
        columns = torch.cat([columns, columns.new_ones(len(columns), 1)], dim=1)
        stated[OVERALL] = overall
    counts = dict(zip(stated, columns.sum(0).tolist(), strict=True))
    _check_rates(stated, counts)

    fires, membership = _distinct_rows(columns)
    size = torch.bincount(membership, minlength=len(fires)).double()
    rate = torch.tensor(list(stated.values()), dtype=torch.float64, device=size.device)
    problem = Problem(fires, size, target=rate * (size @ fires))
    solution = solve(problem)
    if solution is None:
        order = list(stated)
        conflict = {order[k]: stated[order[k]] for k in _smallest_conflict(problem)}
        raise ContradictoryExpectationsError(conflict, counts)
    probability, weights = solution
    named = dict(zip(stated, weights.tolist(), strict=True))
    finite = {name: weight for name, weight in named.items() if not math.isnan(weight)}
    return MaximumEntropy(probability[membership], finite)


def _smallest_conflict(problem: Problem) -> list[int]:
    """Expectations that contradict, though any of them left out leaves the rest possible.

    Leave out one after another, for good wherever the others still contradict.
    """
    kept = torch.ones_like(problem.target, dtype=torch.bool)
    everything = torch.ones_like(problem.size, dtype=torch.bool)
    for k in range(len(kept)):
        kept[k] = False
        if solve(problem.only(everything, kept)) is not None:
            kept[k] = True
    return kept.nonzero().flatten().tolist()


def _distinct_rows(columns: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows (groups, columns) as float64, and the group of each item (items,).

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


def _stated_columns(
    features: Mapping[str, Tensor] | Tensor, rates: Mapping[str, float], names: Sequence[str]
) -> Tensor:
    """The features that have a rate, in the order of the rates: (items, rates), bool."""
    if isinstance(features, Tensor):
        table, names = features, list(names)
    else:
        table, names = _as_table(features), list(features)
    if table.dim() != 2 or table.shape[1] != len(set(names)):
        columns = f"a column for each of {len(set(names))} different names"
        raise ValueError(f"features must be (items, features), {columns}, got {_shape(table)}")
    binary = (table == 0) | (table == 1)
    if not bool(binary.all()):
        raise ValueError(f"features must be True or False, 1 or 0, got {table[~binary][0].item()}")
    for name in rates:
        if name not in names:
            raise ValueError(f"unknown feature {name!r}; choose from {', '.join(names)}")
    return table[:, [names.index(name) for name in rates]].bool()


def _as_table(features: Mapping[str, Tensor]) -> Tensor:
    shapes = {name: _shape(column) for name, column in features.items()}
    if len(set(shapes.values())) != 1:
        raise ValueError(f"features must all have one shape (items,), got {shapes}")
    return torch.stack(list(features.values()), dim=-1)


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def _check_rates(rates: Mapping[str, float], counts: Mapping[str, int]) -> None:
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            raise ValueError(f"a rate must lie in [0, 1], got {name} = {rate}")
        if counts[name] == 0:
            raise ValueError(
                f"{name} = {rate} cannot be met: no item fires {name!r}; leave the rate out"
            )
