"""Tables of the experiment on two languages, next to the published results."""

import math
from collections.abc import Callable, Mapping
from statistics import mean, median
from typing import Any

from benchmarks.lm.experiments import BIG_LIMIT
from benchmarks.lm.rows import Result, results
from benchmarks.lm.spread import MISSING, Seeds, named, spread, table, values
from benchmarks.lm.two_language_seeds import ROWS, read_rows

# Stop Jostling (LoResLM 2025), as its notebooks print them. Of the small language: accuracy, mean
# reciprocal rank, perplexity at its best temperature; of the big one: accuracy, perplexity.
PUBLISHED = {
    "tied": ("0.315", "0.480", "10.63", "0.519", "5.01"),
    "untied": ("0.373", "", "8.79", "", ""),
    "margin 2": ("0.358", "0.516", "9.62", "0.529", "5.07"),
    "margin 1": ("0.371", "0.525", "9.54", "0.530", "5.13"),
    "norm 0.0625": ("0.376", "0.530", "9.46", "0.521", "5.29"),
    "margin 1, separated embeddings": ("0.454", "", "6.90", "", ""),
    "norm 0.0625, separated embeddings": ("0.489", "0.630", "6.11", "0.524", "5.25"),
}
LEARNED = 7.0  # a perplexity of the small language that only runs with aligned letters reach
PERPLEXITY = "perplexity_at_temperature"
COLUMNS = (
    ("small", "accuracy", 3),
    ("small", "mean_reciprocal_rank", 3),
    ("small", PERPLEXITY, 2),
    ("big", "accuracy", 3),
    ("big", PERPLEXITY, 2),
)
HEAD = ["small: accuracy", "MRR", "perplexity", "big: accuracy", "perplexity"]


def on_test(result: Result, text: str, key: str) -> float:
    """Return a figure of the test text."""
    return float(result["best"][text][key])


def on_both(result: Result, text: str, key: str) -> float:
    """Return a figure of validation and test text together, as in the published results.

    The temperature is chosen on the validation text.
    """
    parts = [result[part][text] for part in ("validation", "best")]
    weights = [part["tokens"] for part in parts]
    if key != PERPLEXITY:
        return weighted_mean([part[key] for part in parts], weights)
    return math.exp(weighted_mean([math.log(part[key]) for part in parts], weights))


def weighted_mean(numbers: list[float], weights: list[int]) -> float:
    """Return the weighted mean."""
    return sum(a * b for a, b in zip(numbers, weights, strict=True)) / sum(weights)


def two_languages() -> str:
    """Return tables of both languages: validation and test text together, then the test text."""
    found = results("two-languages")
    order = sorted(found, key=lambda row: -len(found[row]))
    published = [[f"*published: {name}*", *figures, ""] for name, figures in PUBLISHED.items()]
    ours = [[*_line(row, found[row], on_both), _each_seed(found[row])] for row in order]
    tests = [_line(row, found[row], on_test) for row in order]
    return "\n\n".join(
        [
            table(
                ["validation and test text, as published", *HEAD, "small: each seed"],
                published + (ours or [["ours", *[MISSING] * 6]]),
            ),
            table(["test text", *HEAD], tests or [["ours", *[MISSING] * 5]]),
            _decay_verdict(found),
        ]
    )


def _line(row: str, seeds: Seeds, figure: Callable[[Result, str, str], float]) -> list[str]:
    cells = [
        spread(seeds, lambda each, text=text, key=key: figure(each, text, key), digits)  # type: ignore[misc]
        for text, key, digits in COLUMNS
    ]
    return [named(row, seeds), *cells]


def _each_seed(seeds: Seeds) -> str:
    return ", ".join(
        f"{each:.2f}" for each in values(seeds, lambda each: on_both(each, "small", PERPLEXITY))
    )


def _decay_verdict(found: Mapping[str, Seeds]) -> str:
    """Return a sentence on the effect of weight decay of embeddings on the small language."""
    changes = []
    for row in ("margin 1", "norm 0.0625"):
        decayed, free = found.get(row, {}), found.get(f"{row}, no decay", {})
        common = sorted(set(decayed) & set(free))
        if common:
            with_decay, without = (
                mean(on_test(seeds[each], "small", PERPLEXITY) for each in common)
                for seeds in (decayed, free)
            )
            changes.append(f"{row} {with_decay:.2f} → {without:.2f}")
    if not changes:
        return f"Effect of weight decay: {MISSING}."
    return (
        "Test perplexity of the small language with → without weight decay of the embedding: "
        + "; ".join(changes)
        + f". The limit for the big language is a perplexity of {BIG_LIMIT}."
    )


def twenty_seeds() -> str:
    """Return a table with the best, median and worst seed of each row after the last step."""
    found = read_rows()
    head = ["validation and test text, 20 seeds", "small: below 7", "best, median, worst"]
    head += ["big: best, median, worst", "aligned letters: best, median, worst"]
    lines = [
        [row, *(_seed_cells(found[row]["evaluations"][-1]) if row in found else [MISSING] * 4)]
        for row in ROWS
    ]
    return table(head, lines)


def _seed_cells(figures: Mapping[str, Any]) -> list[str]:
    small, big = (sorted(figures[f"{name}_perplexity"]) for name in ("small", "big"))
    aligned = sorted(figures["aligned"], reverse=True)
    below = sum(each < LEARNED for each in small)
    return [
        f"{below} of {len(small)}",
        *(f"{each[0]:.2f}, {median(each):.2f}, {each[-1]:.2f}" for each in (small, big, aligned)),
    ]
