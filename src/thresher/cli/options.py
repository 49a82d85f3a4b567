"""Options that several commands have in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import thresher
from thresher.cli.errors import Problems, print_note
from thresher.cli.option_groups import OptionGroup, argument, flag, number_option, option
from thresher.gates.choices import GateForm, GatePosition
from thresher.text.choices import TextFormat
from thresher.text.document import Document
from thresher.work_folder import check_output_folder

TRAINING = "Training"
_MAX_SEED = 2**32 - 1


def seed_option(help_text: str, **details: Any) -> Any:
    """Return an option for a random seed; its maximum would make the help too wide."""
    return option(help_text, metavar="N", min=0, callback=_check_seed, **details)


def _check_seed(seed: int | None) -> int | None:
    if seed is not None and seed > _MAX_SEED:
        raise typer.BadParameter(f"Input should be less than or equal to {_MAX_SEED}")
    return seed


def output_option(help_text: str) -> Any:
    """Return the option -o of a command that writes to standard output without it."""
    help_text = f"{help_text} Without it, or with -, the output goes to standard output."
    return option(help_text, "--output", "-o", metavar="FILE", callback=_none_for_standard_output)


def output_folder_option(help_text: str) -> Any:
    """Return the option -o of a command that writes a folder."""
    return option(help_text, "--output", "-o", metavar="FOLDER", callback=refuse_standard_output)


def _none_for_standard_output(output: Any) -> Any:
    return None if output is not None and str(output) == "-" else output


def refuse_standard_output(output: Any) -> Any:
    """Return the value of an option for an output that cannot be written to standard output."""
    if output is not None and str(output) == "-":
        raise typer.BadParameter("this is not written to standard output; give a name instead of -")
    return output


Sources = Annotated[
    list[str],
    argument(
        "Files, folders, patterns such as 'notes/*.txt', or - for standard input.",
        metavar="SOURCES",
    ),
]
Format = Annotated[
    TextFormat | None,
    option(
        "text, html, markdown, email, mbox, pdf, docx, jsonl, csv, tsv, parquet, conll or "
        "label-studio; by default it is recognised by the name and the content of a file.",
        "--from",
        metavar="FORMAT",
    ),
]
Field = Annotated[
    str,
    option(
        "Field of a JSON record, or column of a table, with the text.",
        "--field",
        "--column",
        metavar="NAME",
    ),
]
Encoding = Annotated[
    str | None,
    option(
        "Character encoding of text files; by default UTF-8, or the one that a web page declares.",
        metavar="NAME",
    ),
]
Device = Annotated[
    str | None, option("cpu, cuda, cuda:1 …; by default a GPU if there is one.", metavar="NAME")
]
Quiet = Annotated[bool, flag("Show no progress and no summary, only warnings.", "--quiet", "-q")]
Json = Annotated[bool, flag("Print the results as JSON.", "--json")]
OutputFolder = Annotated[Path, output_folder_option("Folder for the model.")]
Force = Annotated[bool, flag("Replace an existing model.", "--force")]
Resume = Annotated[bool, flag("Continue a run of the same command that was stopped.", "--resume")]
EncoderName = Annotated[
    str | None,
    option(
        "A Sentence-BERT encoder: a folder, or a name on the Hub; by default all-MiniLM-L6-v2.",
        "--encoder",
        metavar="NAME",
    ),
]
Seed = Annotated[
    int | None,
    seed_option("Random seed; the same seed gives the same model.", rich_help_panel=TRAINING),
]
Epochs = Annotated[
    int | None,
    number_option(
        "Number of passes over the text; by default, a short text gets more of them.",
        rich_help_panel=TRAINING,
    ),
]
GatesAt = Annotated[
    GatePosition | None,
    option(
        "Where closed gates remove words: at the encoder's input (input), or when its vectors are "
        "pooled (pool).",
        metavar="POSITION",
        rich_help_panel=TRAINING,
    ),
]
Form = Annotated[
    GateForm | None,
    option(
        "Form of the gates: thresholded, continuous or stretched.",
        metavar="NAME",
        rich_help_panel=TRAINING,
    ),
]


@dataclass(frozen=True, kw_only=True)
class TextOptions(OptionGroup):
    """Which texts to read."""

    sources: Sources
    format_: Format = None
    field: Field = "text"
    encoding: Encoding = None

    def read(self, problems: Problems) -> Iterator[Document]:
        """Read the texts one after another; parts that cannot be read go to `problems`."""
        return self.read_files(self.sources, problems)

    def read_files(self, files: list[str], problems: Problems) -> Iterator[Document]:
        """Read files with these options."""
        return thresher.read_texts(
            files,
            format=self.format_,
            field=self.field,
            encoding=self.encoding,
            on_problem=problems,
            on_skipped=print_note,
        )


@dataclass(frozen=True, kw_only=True)
class RunOptions(OptionGroup):
    """Where to compute, and what to show."""

    device: Device = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class SummaryOptions(OptionGroup):
    """What to print at the end."""

    quiet: Quiet = False
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class JsonRunOptions(SummaryOptions, RunOptions):
    """Where to compute, and what to print."""


@dataclass(frozen=True, kw_only=True)
class NewModelOptions(OptionGroup):
    """Where to save a new model."""

    output: OutputFolder
    force: Force = False

    def check(self) -> None:
        """Raise `InputError` if the model could not be saved there after training."""
        check_output_folder(self.output, force=self.force)


@dataclass(frozen=True, kw_only=True)
class ResumableModelOptions(NewModelOptions):
    """Where to save a new model whose training can be resumed."""

    resume: Resume = False
