"""The options of `thresher lm`. Those not given are left to the library's defaults.

The words to choose from are written out, since importing them would import torch.
"""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.option_values import number, one_of, seed, share, whole_number
from thresher.errors import InputError
from thresher.lm.losses import margin
from thresher.lm.output_layers.choices import OutputLayerName

TOKENS = ("characters", "bpe", "word-pairs", "words")
OBJECTIVES = ("causal", "masked")
PRECISIONS = ("float32", "bfloat16")
OUTPUT_LAYERS = tuple(OutputLayerName)
DEFAULT_LENGTH = 500

_MODEL = "What the model is"
_LEARNING = "How it learns"


def parse_margin(value: str) -> margin.Margin:
    """Parse the value of --margin."""
    try:
        return margin.Margin.parse(value)
    except InputError as error:
        raise typer.BadParameter(str(error).replace("`margin`", "it")) from error


ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", show_default=False, help="A folder made by lm train.")
]
ModelFolders = Annotated[
    list[Path],
    typer.Argument(metavar="MODELS", show_default=False, help="Folders made by lm train."),
]
ReportFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to put the report.")
]
TestSources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCES",
        show_default=False,
        help="Texts to measure on; by default what was measured after training.",
    ),
]

Tokens = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*TOKENS),
        metavar="KIND",
        rich_help_panel=_MODEL,
        help="characters, bpe (byte-level pairs), word-pairs (within words, in no case) or words; "
        "by default characters, for a masked model word-pairs.",
    ),
]
Vocabulary = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=2),
        metavar="N",
        rich_help_panel=_MODEL,
        help="How many byte-level pairs or words.",
    ),
]
Objective = Annotated[
    str,
    typer.Option(
        parser=one_of(*OBJECTIVES),
        metavar="NAME",
        rich_help_panel=_MODEL,
        help="causal predicts the next token; masked fills gaps and makes an encoder.",
    ),
]
OutputLayer = Annotated[
    str,
    typer.Option(
        parser=one_of(*OUTPUT_LAYERS),
        metavar="NAME",
        rich_help_panel=_MODEL,
        help="full, classes, hierarchical, tree, adaptive …; those but full, adjusted and "
        "gated need --untied.",
    ),
]
Untied = Annotated[
    bool,
    typer.Option(
        "--untied",
        metavar="",
        rich_help_panel=_MODEL,
        help="Vectors of its own for the output layer.",
    ),
]


def _size(help_text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        parser=whole_number(low=1), metavar="N", rich_help_panel=_MODEL, help=help_text
    )
    return option


Width = Annotated[int | None, _size("The length of a vector; by default 128.")]
Layers = Annotated[int | None, _size("How many layers; by default 4.")]
Heads = Annotated[int | None, _size("How many heads in a layer; by default 4.")]
Context = Annotated[int | None, _size("How many tokens are read at a time; by default 128.")]
Dropout = Annotated[
    float | None,
    typer.Option(
        parser=share, metavar="SHARE", rich_help_panel=_MODEL, help="Dropout; by default 0."
    ),
]

Margin = Annotated[
    margin.Margin | None,
    typer.Option(
        parser=parse_margin,
        metavar="M",
        rich_help_panel=_LEARNING,
        help="Spare tokens further than this below the target: 4; 2:12 while training goes on; "
        "norm:0.0625; top-p:0.9; by default inf, plain cross-entropy.",
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_LEARNING,
        help="How many batches to learn from; by default 2000.",
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_LEARNING,
        help="How many stretches of text in a batch; by default 32.",
    ),
]
LearningRate = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="RATE",
        rich_help_panel=_LEARNING,
        help="At its highest; by default 0.001.",
    ),
]
WeightDecay = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="RATE",
        rich_help_panel=_LEARNING,
        help="Of matrices; by default 0.1.",
    ),
]
NoEmbeddingDecay = Annotated[
    bool,
    typer.Option(
        "--no-embedding-decay",
        metavar="",
        rich_help_panel=_LEARNING,
        help="Rows of tokens do not decay.",
    ),
]
LabelSmoothing = Annotated[
    float | None,
    typer.Option(parser=share, metavar="SHARE", rich_help_panel=_LEARNING, help="Label smoothing."),
]
EvaluateEvery = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_LEARNING,
        help="Steps between two looks at the validation text, where the run is saved too; by "
        "default 250.",
    ),
]
TensorBoard = Annotated[
    Path | None,
    typer.Option(
        "--tensorboard",
        metavar="FOLDER",
        rich_help_panel=_LEARNING,
        help="Also write the log there, for TensorBoard.",
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*PRECISIONS),
        metavar="NAME",
        rich_help_panel=_LEARNING,
        help="float32, or bfloat16 for mixed precision on a GPU.",
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

Prompt = Annotated[str, typer.Option(metavar="TEXT", help="What the text begins with.")]
Length = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=0),
        metavar="N",
        help=f"How many tokens to draw; by default {DEFAULT_LENGTH}.",
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="T",
        help="Below 1 safer, above 1 bolder, 0 always the likeliest; by default the best on "
        "validation.",
    ),
]
SampleSeed = Annotated[
    int | None,
    typer.Option(parser=seed, metavar="N", help="The same seed gives the same text."),
]
