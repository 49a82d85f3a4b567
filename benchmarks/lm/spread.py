"""Format figures over seeds: the mean, with the lowest and the highest seed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from benchmarks.lm.rows import Result

MISSING = "not measured"

Seeds = Mapping[int, Result]
Figure = Callable[[Result], float]


def values(seeds: Seeds, figure: Figure) -> list[float]:
    """Return a figure for every seed."""
    return [figure(seeds[seed]) for seed in sorted(seeds)]


def spread(seeds: Seeds | None, figure: Figure, digits: int = 3) -> str:
    """Return "mean (lowest–highest)" unless all seeds agree in all digits, or "not measured"."""
    if not seeds:
        return MISSING
    found = values(seeds, figure)
    middle, low, high = (f"{each:.{digits}f}" for each in (mean(found), min(found), max(found)))
    return middle if low == high else f"{middle} ({low}–{high})"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with right-aligned numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def named(row: str, seeds: Seeds | None) -> str:
    """Return the name of a row, with the number of its seeds if there are fewer than three."""
    if not seeds or len(seeds) >= 3:
        return row
    return f"{row} ({len(seeds)} seed{'s' if len(seeds) > 1 else ''})"
