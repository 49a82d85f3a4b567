"""thresher eval: how well a model finds what someone has tagged."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from thresher.bulk.finder_choice import ModelChoice
from thresher.cli.models import load_finder
from thresher.cli.option_values import completing, one_of
from thresher.cli.options import Device, Exact, Json, Model, Quiet, Threshold
from thresher.cli.output import figures_table, print_line, rendered, several
from thresher.cli.progress import shown

GoldFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD",
        show_default=False,
        help="CoNLL files with tags such as O, B-PER, I-PER, or what a labelling tool exported; "
        "the kinds are not used.",
    ),
]
GOLD_FORMATS = ("conll", "prodigy", "doccano", "label-studio")
GoldFormat = Annotated[
    str,
    typer.Option(
        "--from",
        parser=one_of(*GOLD_FORMATS),
        autocompletion=completing(*GOLD_FORMATS),
        metavar="FORMAT",
        show_default=False,
        help="conll, prodigy, doccano or label-studio; by default conll.",
    ),
]

_CASES = {"as given": False, "lower-cased": True}


def evaluate(
    gold: GoldFiles,
    from_: GoldFormat = "conll",
    model: Model = None,
    threshold: Threshold = None,
    device: Device = None,
    exact: Exact = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what a model finds against gold tags, as given and lower-cased.

    thresher eval gold.conll --model my-model
    thresher eval labelled.json --from label-studio --json

    AP is the average precision of word scores. Precision, recall and F1, their
    harmonic mean, are of words at a score of one half, and of exact spans at the
    threshold. Calibration error is how far, on average, the score of a span is
    from the chance that it is right.
    """
    from thresher.entities.evaluation import (  # noqa: PLC0415 (numpy; help does without)
        GoldTexts,
        evaluate_finder,
    )

    tagged = GoldTexts.read(gold, format=from_)
    finder = load_finder(ModelChoice(model, device, exact=exact), quiet=quiet)
    least = finder.threshold if threshold is None else threshold
    counts = tagged.counts()
    with shown(quiet=quiet) as progress:
        measures = {
            name: evaluate_finder(
                finder,
                tagged,
                threshold=least,
                lower_case=lower_case,
                progress=progress.stage(name, counts["sentences"]),
            )
            for name, lower_case in _CASES.items()
        }
    if as_json:
        about = {"gold": gold, "model": str(model) if model else None, "threshold": least}
        figures = {name.replace(" ", "_"): each.as_json() for name, each in measures.items()}
        print_line(json.dumps(about | counts | figures))
    else:
        if not quiet:
            print_line(_about(counts, least))
        columns = {name: each.figures() for name, each in measures.items()}
        print_line(rendered(figures_table(columns)))


def _about(counts: Mapping[str, int], threshold: float) -> str:
    amounts = ", ".join(several(amount, name.removesuffix("s")) for name, amount in counts.items())
    return f"{amounts}; threshold {threshold:.2f}"
