"""Read the results of `benchmarks.variants` by row, for one version of the code."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.data import ALL_RESULTS
from benchmarks.variants.rows import BASELINES, ROWS

RESULTS = ALL_RESULTS / "variants"
CASES = ("cased", "lower")
SPAN, WORD = "span_f1", "word_ap"


@dataclass(frozen=True)
class Spread:
    """The values of a figure over seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def range(self) -> float:
        return max(self.values) - min(self.values)

    def __str__(self) -> str:
        deviation = f"±{self.range / 2:.3f}" if len(self.values) > 1 else ""
        return f"{self.mean:.3f}{deviation}"


@dataclass(frozen=True)
class RowResults:
    """The results of one row, a dictionary for each seed."""

    row: str
    seeds: tuple[dict[str, Any], ...]

    def figure(self, key: str, name: str, case: str) -> Spread:
        return Spread(tuple(each["sets"][name][case][key] for each in self.seeds))

    def overall(self, key: str, cases: tuple[str, ...] = CASES) -> Spread:
        """Return the mean over sets and cases for each seed."""
        return Spread(
            tuple(
                mean(by_case[case][key] for by_case in each["sets"].values() for case in cases)
                for each in self.seeds
            )
        )

    def mean_of(self, key: str) -> float | None:
        values = [each[key] for each in self.seeds if key in each]
        return mean(values) if values else None


def results_of(
    split: str, folder: Path = RESULTS, *, names: Sequence[str] = tuple(ROWS)
) -> dict[str, RowResults]:
    """Return the results by row in the order of the benchmark, peers last.

    Only the code version with the most results is used.

    names: the rows that are trained, in order
    """
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    found = [each for each in found if each.get("split") == split]
    versions = Counter(each["code"] for each in found if each["row"] in names)
    code = versions.most_common(1)[0][0] if versions else None
    kept = [each for each in found if each["code"] == code or each["row"] not in names]
    order = [*names, *BASELINES, *sorted({each["row"] for each in kept} - {*names, *BASELINES})]
    rows = {}
    for row in order:
        seeds = sorted((each for each in kept if each["row"] == row), key=lambda each: each["seed"])
        if seeds:
            rows[row] = RowResults(row, tuple(_one_per_seed(seeds)))
    return rows


def verdict(row: RowResults, other: RowResults, key: str) -> str:
    """Return the difference in a figure and whether it exceeds the range between seeds."""
    ours, theirs = row.overall(key), other.overall(key)
    gain = ours.mean - theirs.mean
    if abs(gain) <= max(ours.range, theirs.range):
        return f"{gain:+.3f}, no difference"
    return f"{gain:+.3f}, {'helps' if gain > 0 else 'hurts'}"


def _one_per_seed(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last result of each seed; there may be several machines or code versions."""
    return list({each["seed"]: each for each in results}.values())
