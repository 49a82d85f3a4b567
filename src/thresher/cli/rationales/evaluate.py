"""thresher rationale eval: whether rationales carry the answers."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from thresher.cli.errors import Problems
from thresher.cli.models import load_rationales
from thresher.cli.options import Device, Json, Quiet
from thresher.cli.output import figures_table, print_line, rendered
from thresher.cli.progress import shown
from thresher.cli.rationales import options
from thresher.errors import InputError
from thresher.rationales.labelled_texts import Fields, read_labelled

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
_GOLD = "rationale"  # the field that is looked for when none is named


def evaluate(
    texts: options.Texts,
    model: options.ModelFolder,
    from_: options.DataFormat = None,
    text_field: options.TextField = "text",
    label_field: options.LabelField = "label",
    gold_field: options.GoldField = None,
    threshold: options.Threshold = None,
    device: Device = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a model on labelled texts, beside random words and gradients.

    thresher rationale eval test.jsonl --model model
    thresher rationale eval test.jsonl --model model --json

    Sufficiency and comprehensiveness are how much probability of the answer is
    lost, on average, from the rationale alone and without it: a good rationale
    loses little alone, and much is lost without it. Random words and those of
    largest gradient are as many in every text. Where the texts have gold
    rationales, words are measured against them.
    """
    problems = Problems()
    fields = Fields(text=text_field, label=label_field, gold=gold_field or _GOLD)
    read = list(read_labelled(texts, fields=fields, format=from_, on_problem=problems))
    if gold_field is not None and all(each.gold is None for each in read):
        raise InputError(f"no record has a gold rationale in the field {gold_field!r}")
    finder = load_rationales(model, device=device, quiet=quiet)
    from thresher.rationales.evaluation import evaluate_rationales  # noqa: PLC0415 (torch)

    with shown(quiet=quiet) as progress:
        found = evaluate_rationales(
            finder, read, threshold=threshold, on_problem=problems, progress=progress
        )
    figures, counts = found.faithfulness, found.gold_words
    if as_json:
        about = {"model": str(model), "labels": list(finder.labels)}
        print_line(json.dumps(about | _as_json(figures, counts), ensure_ascii=False))
    else:
        if not quiet:
            print_line(_about(figures["rationale"], counts))
        print_line(rendered(figures_table(_columns(figures))))
    problems.conclude()


def _about(figures: "Faithfulness", counts: "Counts | None") -> str:
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
    told: dict[str, object] = {name: asdict(each) for name, each in figures.items()}
    if counts is not None:
        told["token"] = counts.as_json()
    return told
