"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.option_values import completing, one_of, share

INPUT_FORMATS = ("text", "jsonl", "parquet", "conll", "label-studio")

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCES",
        show_default=False,
        help="Files, folders, patterns such as 'notes/*.txt', or - for standard input.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--from",
        parser=one_of(*INPUT_FORMATS),
        autocompletion=completing(*INPUT_FORMATS),
        metavar="FORMAT",
        help="text, jsonl, parquet, conll or label-studio; by default what a file's name says.",
    ),
]
Field = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="The field of a JSON record, or Parquet column, that holds the text."
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="A model made by fit or distill; or fast-english, the built-in one with no "
        "transformer. By default the built-in English one.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        parser=share,
        metavar="T",
        help="The least score of an entity, from 0 to 1; by default the model's own.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="cpu, cuda, cuda:1 …; by default a GPU if there is one."),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        metavar="",
        help="Single precision, where a CPU would else compute in eight bits, twice as fast.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", metavar="", help="No progress and no summary, only warnings."),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print the figures as JSON.")]
