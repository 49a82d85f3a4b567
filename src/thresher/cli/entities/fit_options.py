"""The options of `thresher fit`. Those not given are left to the library's defaults.

The words to choose from are written out, since importing them would import torch.
"""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.entities.fit_variants import rate_or_none
from thresher.cli.option_values import (
    StatedRate,
    number,
    one_of,
    seed,
    share,
    stated_rate,
    whole_number,
)

PRIORS = ("casing", "repetition", "rarity", "burstiness", "contexts", "surprisal", "none")
FEATURES = ("capitalised", "lower", "rare", "repeated")
FORMS = ("continuous", "stretched", "thresholded")
GATES_AT = ("input", "pool")

_BELIEFS = "What to believe before reading"
_LEARNING = "How to learn"

Folder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put the model.")
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="A Sentence-BERT encoder: a folder, or a name on the Hub; by default "
        "all-MiniLM-L6-v2.",
    ),
]
Layer = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        help="Which layer of the encoder is read; by default two thirds of the way up. Those above "
        "it are not computed when finding.",
    ),
]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace a model that is there.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", metavar="", help="Go on where the same command was stopped."),
]

Prior = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        parser=one_of(*PRIORS),
        metavar="NAME",
        rich_help_panel=_BELIEFS,
        help="casing, repetition, rarity, burstiness, contexts, surprisal or none; may be "
        "repeated: the first that has an opinion of a word decides. By default those that fit "
        "the script.",
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", rich_help_panel=_BELIEFS, help="Every word of this file is a name."
    ),
]
NotNames = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_BELIEFS,
        help="No word of this file is a name; by default English days, months, titles and "
        "pronouns. The word none stands for no list.",
    ),
]
Expect = Annotated[
    list[StatedRate] | None,
    typer.Option(
        parser=stated_rate(*FEATURES),
        metavar="FEATURE=RATE",
        rich_help_panel=_BELIEFS,
        help="The share of entities among words that are capitalised, lower, rare or "
        "repeated, as in capitalised=0.85; may be repeated.",
    ),
]
Selected = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="RATE",
        rich_help_panel=_BELIEFS,
        help="The share of entities among all words, such as 0.12.",
    ),
]

Epochs = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_LEARNING,
        help="How often to go through the text; a short text is gone through more often.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        parser=seed,
        metavar="N",
        rich_help_panel=_LEARNING,
        help="The same seed gives the same model.",
    ),
]
Contrast = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_LEARNING,
        help="The weight of what removing words does to a sentence; 0 for the prior alone.",
    ),
]
ContrastShare = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="SHARE",
        rich_help_panel=_LEARNING,
        help="The share of batches on which that is computed.",
    ),
]
Sparsity = Annotated[
    list[float] | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_LEARNING,
        help="The weight of few open gates; may be repeated, once for each selector.",
    ),
]
TargetRate = Annotated[
    list[float] | None,
    typer.Option(
        parser=rate_or_none,
        metavar="RATE",
        rich_help_panel=_LEARNING,
        help="Hold the share of open gates there, by a Lagrangian; may be repeated, a rate or "
        "none for each selector.",
    ),
]
GatesAt = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*GATES_AT),
        metavar="PLACE",
        rich_help_panel=_LEARNING,
        help="Where gates close: at the encoder's input, or over its pooled vectors (pool).",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*FORMS),
        metavar="NAME",
        rich_help_panel=_LEARNING,
        help="The form of the gates: thresholded, continuous or stretched.",
    ),
]
