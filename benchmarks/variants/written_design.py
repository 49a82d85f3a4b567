"""The seed design as it was first written, and each of its ideas alone and combined.

    python -m benchmarks.variants --rows written

No prior: gates learn from the contrast alone, which is computed for every batch, with a fixed λ_s
or with a target rate. The ideas are attention features, Fourier filters of sentence vectors, and
several selectors that agree or differ. Each is measured with gates at the pool, as first written,
and with gates at the encoder's input.
"""

from typing import Any

from benchmarks.variants.results import RESULTS, SPAN, WORD, RowResults, results_of, verdict
from benchmarks.variants.rows import Row
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.gates.variants import DualModels, FourierFilter

WRITTEN_RESULTS = RESULTS / "written-design"
_NO_PRIOR = PriorKnowledge(priors=("none",))
_RATE = 0.12  # of open gates; without a target many rows close or open every gate
_LOW = FourierFilter(kind="low", cutoff=0.5)
_ALIGN = DualModels(selectors=2, relation="align", weight=1.0)
_REPEL = DualModels(selectors=2, relation="repel", target_rates=(_RATE, _RATE))
PLAIN = "as written"
POSITIONS = ("pool", "input")
IDEAS: dict[str, dict[str, Any]] = {
    PLAIN: {},
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
    for position in POSITIONS
    for idea, changes in IDEAS.items()
}


def written_section() -> list[str]:
    """Return the paragraphs on the design as written, with a verdict on each idea."""
    rows = results_of("tune", WRITTEN_RESULTS, names=list(WRITTEN_ROWS))
    if not rows:
        return ["### The design as first written", "Not measured."]
    return [
        "### The design as first written",
        "`python -m benchmarks.variants --rows written --sentences 8000 --gold 1500`: no prior, "
        "contrast on every batch, a target rate of .12 (except for *fixed λ_s*), all rows from one "
        "version of the code, evaluated on the first 1500 sentences of each tune split. Word AP "
        "and span F1 are means over sets and both cases, the columns of sets show word AP on "
        "lower-cased text, ± is half the range between seeds. An idea *helps* or *hurts* if its "
        "mean word AP "
        "differs from that of *as written* by more than the larger of the two ranges.",
        *("\n".join(_position_table(rows, position)) for position in POSITIONS),
        _summary(rows),
    ]


def _position_table(rows: dict[str, RowResults], position: str) -> list[str]:
    """Return the lines of a table: one row per idea, with gates at one position."""
    lines = [
        f"| gates at the {position} | word AP | verdict | WNUT-17 | BC5CDR | Wikigold | span F1 | "
        "seeds |",
        "|---" * 8 + "|",
    ]
    plain = rows[f"{position}: {PLAIN}"]
    for idea in IDEAS:
        row = rows.get(f"{position}: {idea}")
        if row is None:
            continue
        by_set = [str(row.figure(WORD, name, "lower")) for name in row.seeds[0]["sets"]]
        lines.append(
            f"| {idea} | {row.overall(WORD)} | "
            + ("" if idea == PLAIN else verdict(row, plain, WORD))
            + f" | {' | '.join(by_set)} | {row.overall(SPAN)} | {len(row.seeds)} |"
        )
    return lines


def _summary(rows: dict[str, RowResults]) -> str:
    """Return which ideas help or hurt."""
    ideas: dict[str, list[str]] = {"helps": [], "hurts": [], "no difference": []}
    for name, row in rows.items():
        position, _, idea = name.partition(": ")
        if idea in IDEAS and idea != PLAIN:
            plain = rows[f"{position}: {PLAIN}"]
            ideas[verdict(row, plain, WORD).partition(", ")[2]].append(
                f"{idea} (at the {position})"
            )
    pool, at_input = (rows[f"{position}: {PLAIN}"].overall(WORD).mean for position in POSITIONS)
    return (
        f"Without a prior, gates at the input reach a word AP of {at_input:.3f} and gates at the "
        f"pool {pool:.3f}. Ideas that help: {'; '.join(ideas['helps']) or 'none'}. Ideas that "
        f"hurt: {'; '.join(ideas['hurts']) or 'none'}. The other {len(ideas['no difference'])} "
        "rows make no difference."
    )
