"""Options that several commands have in common."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import thresher
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.errors import Problems, print_note
from thresher.cli.option_groups import OptionGroup, argument, flag, number_option, option
from thresher.cli.option_parsers import parse_kinds
from thresher.entities.choices import KindsWord
from thresher.entities.kinds.examples import KindExamples
from thresher.errors import InputError, did_you_mean
from thresher.gates.choices import GateForm, GatePosition
from thresher.text.choices import TextFormat
from thresher.text.document import Document
from thresher.text.sources import STANDARD_INPUT, is_text_argument
from thresher.work_folder import check_output_folder

if TYPE_CHECKING:
    from thresher.entities.finding.user_rules import UserRules

PRIOR_KNOWLEDGE = "Prior knowledge"
TRAINING = "Training"
ARGUMENT = "argument"  # the source of a text that is given on the command line
_MAX_SEED = 2**32 - 1


def seed_option(help_text: str, **details: Any) -> Any:
    """Return an option for a random seed; its maximum would make the help too wide."""
    return option(help_text, metavar="N", min=0, callback=_check_seed, **details)


def _check_seed(seed: int | None) -> int | None:
    if seed is not None and seed > _MAX_SEED:
        raise typer.BadParameter(f"Input should be less than or equal to {_MAX_SEED}")
    return seed


Sources = Annotated[
    list[str],
    argument(
        "Files, folders, patterns such as 'notes/*.txt', or - for standard input.",
        metavar="SOURCES",
    ),
]
SourcesOrTexts = Annotated[
    list[str] | None,
    argument(
        "Files, folders, patterns such as 'notes/*.txt', a text in quotation marks, or - for "
        "standard input, which is also read if nothing is given.",
        metavar="[SOURCES]",
    ),
]
Format = Annotated[
    TextFormat | None,
    option(
        "text, html, markdown, email, mbox, pdf, docx, jsonl, csv, tsv, parquet, conll or "
        "label-studio; by default the name and the content of a file decide.",
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
        "Character encoding of text files; by default UTF-8, or what a web page states.",
        metavar="NAME",
    ),
]
Model = Annotated[
    Path | None,
    option(
        "A model trained by fit or distill, or a built-in one: english (the default), "
        "small-english (two layers), fast-english (no transformer), multilingual (a hundred "
        "languages), auto (english or multilingual, chosen for each text).",
        metavar="FOLDER",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        "Minimum score of an entity; by default the threshold of the model.",
        metavar="T",
        min=0,
        max=1,
    ),
]
Workers = Annotated[
    int | None,
    number_option("Number of processes, each with a copy of the model; the output stays the same."),
]
Only = Annotated[
    Any,
    option(
        "Keep only entities of these kinds, separated by commas: person,place.",
        metavar="KINDS",
        parser=parse_kinds,
    ),
]
Kinds = Annotated[
    str | None,
    option(
        "A TOML or JSON file with example names of each kind; auto, to discover kinds in the "
        "texts; none, for entities without kinds. By default the kinds of the model.",
        metavar="FILE",
    ),
]
Always = Annotated[
    Path | None,
    option(
        "A file with names and /patterns/ that are always entities, one in each line.",
        metavar="FILE",
    ),
]
Never = Annotated[
    Path | None,
    option("A file with names and /patterns/ that are never entities.", metavar="FILE"),
]
Device = Annotated[
    str | None, option("cpu, cuda, cuda:1 …; by default a GPU if there is one.", metavar="NAME")
]
Exact = Annotated[
    bool,
    flag(
        "Compute in float32. By default a CPU computes in int8 where it can, which is twice as "
        "fast.",
        "--exact",
    ),
]
Quiet = Annotated[bool, flag("Show no progress and no summary, only warnings.", "--quiet", "-q")]
Json = Annotated[bool, flag("Print the results as JSON.", "--json")]
OutputFolder = Annotated[Path, option("Folder for the model.", "--output", "-o", metavar="FOLDER")]
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
        "Number of passes over the text; a short text gets more of them.", rich_help_panel=TRAINING
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
Selector = Annotated[
    int | None,
    option(
        "Use this selector of a model with several; by default the one that was chosen for "
        "entities.",
        metavar="K",
        min=1,
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
        return thresher.read_texts(
            self.sources,
            format=self.format_,
            field=self.field,
            encoding=self.encoding,
            on_problem=problems,
            on_skipped=print_note,
        )


def read_kinds(kinds: str | None) -> KindExamples | str | None:
    """Return the example names in a file; the words of `KindsWord` are returned as they are."""
    if kinds is None or kinds in list(KindsWord):
        return kinds
    if not Path(kinds).exists():
        words = [str(each) for each in KindsWord]
        hint = did_you_mean(kinds, words) or f"; give a file, or one of {', '.join(words)}"
        raise InputError(f"there is no file of kinds {kinds}{hint}")
    return KindExamples.read(kinds)


@dataclass(frozen=True, kw_only=True)
class FindTextOptions(TextOptions):
    """Which texts to read; an argument can also be a text itself."""

    sources: SourcesOrTexts = None  # type: ignore[assignment]

    def files(self) -> list[str]:
        """Return the arguments that are not texts; standard input without arguments."""
        if not self.sources:
            if sys.stdin is None or sys.stdin.isatty():
                raise typer.BadParameter("Missing argument 'SOURCES': a file, a folder or a text.")
            return [STANDARD_INPUT]
        return [each for each in self.sources if not is_text_argument(each)]

    def read(self, problems: Problems) -> Iterator[Document]:
        """Read the given texts, then those of files; parts that cannot be read go to `problems`."""
        given = [
            Document(text, ARGUMENT, number)
            for number, text in enumerate(self.sources or (), 1)
            if is_text_argument(text)
        ]
        files = self.files()
        return chain(given, replace(self, sources=files)._read_files(problems) if files else ())

    def _read_files(self, problems: Problems) -> Iterator[Document]:
        return super().read(problems)


def read_user_rules(always: Path | None, never: Path | None) -> "UserRules | None":
    """Read the files of --always and --never; None if neither is given."""
    if always is None and never is None:
        return None
    from thresher.entities.finding.user_rules import UserRules, read_rules  # noqa: PLC0415

    return UserRules(
        () if always is None else read_rules(always), () if never is None else read_rules(never)
    )


@dataclass(frozen=True, kw_only=True)
class FinderOptions(OptionGroup):
    """Which finder to load, and how to use it."""

    model: Model = None
    threshold: Threshold = None
    exact: Exact = False
    kinds: Kinds = None
    always: Always = None
    never: Never = None

    def choice(self, device: str | None, selector: int | None = None) -> FinderChoice:
        """Return the choice of a finder, which can be loaded here or in other processes."""
        return FinderChoice(
            self.model,
            device,
            selector,
            self.exact,
            read_kinds(self.kinds),
            read_user_rules(self.always, self.never),
        )


@dataclass(frozen=True, kw_only=True)
class RunOptions(OptionGroup):
    """Where to compute, and what to show."""

    device: Device = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class JsonRunOptions(RunOptions):
    """Where to compute, and what to print."""

    as_json: Json = False


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
