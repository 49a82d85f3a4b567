"""The options of `thresher rationale`. Those not given are left to the library's defaults.

The words to choose from are written out, since importing them would import torch.
"""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.option_values import number, one_of, share, whole_number
from thresher.text.choices import RecordFormat

MODES = ("frozen", "joint")
ESTIMATORS = ("pathwise", "reinforce")
BASELINES = ("none", "average", "others")

_GATES = "How gates learn"
_LOSS = "What the loss asks for"

Texts = Annotated[
    list[str],
    typer.Argument(
        metavar="TEXTS",
        show_default=False,
        help="JSONL, CSV or TSV files, patterns such as 'reviews/*.csv', or - for standard "
        "input; also .gz.",
    ),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        parser=one_of(*RecordFormat),
        metavar="FORMAT",
        help="jsonl, csv, tsv, or lines (a text a line, to find in); by default what a file's "
        "name says, and jsonl for standard input.",
    ),
]
TextField = Annotated[
    str, typer.Option("--text-field", metavar="NAME", help="The field that holds the text.")
]
LabelField = Annotated[
    str, typer.Option("--label-field", metavar="NAME", help="The field that holds the label.")
]
GoldField = Annotated[
    str | None,
    typer.Option(
        "--gold-field",
        metavar="NAME",
        help="The field with gold rationales, a list of start and end in characters; by default "
        "rationale, where there is one.",
    ),
]
ModelFolder = Annotated[
    Path,
    typer.Option(
        "--model", metavar="FOLDER", show_default=False, help="A model made by rationale fit."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="T",
        help="The least P(open) of a word in a rationale; by default the model's own, 0.5.",
    ),
]
Mode = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*MODES),
        metavar="NAME",
        help="frozen (default) learns a classifier from whole texts, then gates that keep its "
        "answers; joint learns both together, the classifier from what the gates let through.",
    ),
]
FromScratch = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        metavar="",
        help="In joint mode, let the classifier learn nothing before there are gates.",
    ),
]
Explained = Annotated[
    Path | None,
    typer.Option(
        "--classifier",
        metavar="FOLDER",
        help="Explain the classifier of this model, instead of learning one.",
    ),
]
Share = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="RATE",
        rich_help_panel=_LOSS,
        help="The share of words to select, 0.15 by default: sparsity is held there by a "
        "Lagrangian, and expected selection pulls towards it.",
    ),
]
Sparsity = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_LOSS,
        help="A fixed weight of the expected share of selected words, in place of --share.",
    ),
]
Continuity = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_LOSS,
        help="The weight of the expected number of places where a rationale begins or ends, "
        "per word; 0 by default.",
    ),
]
ContinuityTarget = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="RATE",
        rich_help_panel=_LOSS,
        help="Hold that number at or below this, by a Lagrangian.",
    ),
]
Selection = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_LOSS,
        help="The weight of |E[z] − π|: how far expected selection is from --share, --likely "
        "and --unlikely; 1 by default.",
    ),
]
SelectionTarget = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="GAP",
        rich_help_panel=_LOSS,
        help="Hold that distance at or below this, by a Lagrangian.",
    ),
]
Likely = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_LOSS,
        help="Every word of this file is expected in rationales (π = 1).",
    ),
]
Unlikely = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_LOSS,
        help="No word of this file is expected in rationales (π = 0).",
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_GATES,
        help="How many batches the gates learn from.",
    ),
]
Estimator = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*ESTIMATORS),
        metavar="NAME",
        rich_help_panel=_GATES,
        help="Gradients through the sample (pathwise), or from its loss (reinforce).",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*BASELINES),
        metavar="NAME",
        rich_help_panel=_GATES,
        help="For reinforce: none, the moving average of losses, or the others of --samples.",
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_GATES,
        help="How often gates are sampled for a text at a step.",
    ),
]
