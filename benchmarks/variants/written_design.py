"""The seed design as it was first written, and each of its ideas alone and combined.

    python -m benchmarks.variants --rows written

No prior: gates learn from the contrast alone, which is computed for every batch, with a fixed λ_s
or with a target rate. The ideas are attention features, Fourier filters of sentence vectors, and
several selectors that agree or differ. Each is measured with gates at the pool, as first written,
and with gates at the encoder's input.
"""

from typing import Any

from benchmarks.variants.results import RESULTS, WORD, RowResults, results_of
from benchmarks.variants.rows import Row
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.gates.variants import DualModels, FourierFilter

WRITTEN_RESULTS = RESULTS / "written-design"
_NO_PRIOR = PriorKnowledge(priors=("none",))
_RATE = 0.12  # of open gates; without a target many rows close or open every gate
_LOW = FourierFilter(kind="low", cutoff=0.5)
_ALIGN = DualModels(selectors=2, relation="align", weight=1.0)
_REPEL = DualModels(selectors=2, relation="repel", target_rates=(_RATE, _RATE))
IDEAS: dict[str, dict[str, Any]] = {
    "as written": {},
    "fixed λ_s = 1": {"target_rate": None, "sparsity": 1.0},
    "attention": {"attention": "mean"},
    "low-pass .5": {"filter": _LOW},
    "high-pass .1": {"filter": FourierFilter(kind="high", cutoff=0.1)},
    "band-pass .1-.5": {"filter": FourierFilter(kind="band", cutoff=0.1, upper=0.5)},
    "align 2": {"dual": _ALIGN},
    "repel 2": {"dual": _REPEL},
    "attention, low-pass": {"attention": "mean", "filter": _LOW},
    "attention, low-pass, align 2": {"attention": "mean", "filter": _LOW, "dual": _ALIGN},
    "attention, low-pass, repel 2": {"attention": "mean", "filter": _LOW, "dual": _REPEL},
}
WRITTEN_ROWS = {
    f"{position}: {idea}": Row(
        {
            "gates_at": position,
            "contrast": 1.0,
            "contrast_share": 1.0,
            "target_rate": _RATE,
            **changes,
        },
        _NO_PRIOR,
    )
    for position in ("pool", "input")
    for idea, changes in IDEAS.items()
}


def written_table() -> list[str]:
    """Return the lines of a table: word AP on the tune splits, one row per idea."""
    rows = results_of("tune", WRITTEN_RESULTS, names=list(WRITTEN_ROWS))
    lines = [
        "| | gates at the pool | gates at the input |",
        "|---|---|---|",
    ]
    for idea in IDEAS:
        cells = [_cell(rows.get(f"{position}: {idea}")) for position in ("pool", "input")]
        lines.append(f"| {idea} | " + " | ".join(cells) + " |")
    return lines


def _cell(row: RowResults | None) -> str:
    """Return the mean over sets of the word AP, with its spread over seeds."""
    return "" if row is None else f"{row.overall(WORD)} ({len(row.seeds)} seeds)"
