"""thresher rationale eval: measure how faithful rationales are."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from thresher.cli.errors import Problems
from thresher.cli.models import load_rationales
from thresher.cli.option_groups import with_option_groups
from thresher.cli.options import JsonRunOptions
from thresher.cli.output import metrics_table, print_results
from thresher.cli.progress import progress_bars
from thresher.cli.rationales.options import (
    GoldField,
    LabelField,
    LabelledTextOptions,
    ModelFolder,
    Threshold,
)
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.entities.evaluation import Counts
    from thresher.rationales.faithfulness import Faithfulness

_ROWS = {
    "accuracy, whole text": "accuracy",
    "accuracy, rationale alone": "accuracy_from_rationale",
    "accuracy, without it": "accuracy_without",
    "answers kept": "kept",
    "sufficiency (lost)": "sufficiency",
    "comprehensiveness (lost)": "comprehensiveness",
}
_GOLD = "rationale"  # the default field of gold rationales


@with_option_groups
def evaluate(
    *,
    texts: LabelledTextOptions,
    label_field: LabelField = "label",
    gold_field: GoldField = None,
    model: ModelFolder,
    threshold: Threshold = None,
    run: JsonRunOptions,
) -> None:
    """Compare rationales with random words and gradients, on labelled texts.

    thresher rationale eval test.jsonl --model model
    thresher rationale eval test.jsonl --model model --json

    Sufficiency and comprehensiveness are the mean drops in the probability of the
    predicted label when only the rationale is kept, and when it is removed. A
    good rationale has a low sufficiency and a high comprehensiveness. It is
    compared with as many random words, and words with the largest gradients. If
    texts have gold rationales, precision and recall of words are shown, too.
    """
    problems = Problems()
    labelled = list(texts.read(problems, label=label_field, gold=gold_field or _GOLD))
    if gold_field is not None and all(each.gold is None for each in labelled):
        raise InputError(f"no record has a gold rationale in the field {gold_field!r}")
    finder = load_rationales(model, device=run.device, quiet=run.quiet)
    from thresher.rationales.evaluation import evaluate_rationales  # noqa: PLC0415 (torch)

    with progress_bars(quiet=run.quiet) as progress:
        evaluation = evaluate_rationales(
            finder, labelled, threshold=threshold, on_problem=problems, progress=progress
        )
    figures, counts = evaluation.faithfulness, evaluation.gold_words
    about = {"model": str(model), "labels": list(finder.labels)}
    print_results(
        about | _as_json(figures, counts),
        _heading(figures["rationale"], counts),
        metrics_table(_columns(figures)),
        run,
    )
    problems.exit_if_any()


def _heading(figures: "Faithfulness", counts: "Counts | None") -> str:
    line = f"{figures.texts:,} texts; {figures.selected:.1%} of words selected"
    if figures.empty:
        line += f", {figures.empty:.1%} of texts with none"
    if counts is not None:
        line += (
            f"; token precision {counts.precision:.3f}, recall {counts.recall:.3f}, "
            f"F1 {counts.f1:.3f}"
        )
    return line


def _columns(figures: Mapping[str, "Faithfulness"]) -> dict[str, dict[str, float]]:
    return {
        column: {row: getattr(each, attribute) for row, attribute in _ROWS.items()}
        for column, each in figures.items()
    }


def _as_json(figures: Mapping[str, "Faithfulness"], counts: "Counts | None") -> dict[str, object]:
    results: dict[str, object] = {name: asdict(each) for name, each in figures.items()}
    if counts is not None:
        results["token"] = counts.as_json()
    return results
