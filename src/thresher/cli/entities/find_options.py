"""The options of commands that find entities: which texts, which finder, how to use it."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.errors import Problems
from thresher.cli.option_groups import OptionGroup, argument, flag, number_option, option
from thresher.cli.option_parsers import parse_kinds
from thresher.cli.options import TextOptions
from thresher.entities.choices import KindsWord
from thresher.entities.kinds.examples import KindExamples
from thresher.errors import InputError, did_you_mean
from thresher.text.document import Document
from thresher.text.sources import STANDARD_INPUT, is_text_argument

if TYPE_CHECKING:
    from thresher.entities.finding.user_rules import UserRules

ARGUMENT = "argument"  # the source of a text that is given on the command line

SourcesOrTexts = Annotated[
    list[str] | None,
    argument(
        "Files, folders, patterns such as 'notes/*.txt', a text in quotation marks, or - for "
        "standard input, which is also read if nothing is given.",
        metavar="SOURCES",
    ),
]
Model = Annotated[
    Path | None,
    option(
        "A model trained by fit or distill, or a built-in one: english (the default), "
        "small-english (two layers), fast-english (no transformer), multilingual (a hundred "
        "languages), auto (english or multilingual, chosen for each text). Models joined by + are "
        "averaged, which is slower and sometimes better: english+multilingual.",
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
        "A file with names and /regular expressions/ that are always entities, one per line.",
        metavar="FILE",
    ),
]
Never = Annotated[
    Path | None,
    option(
        "A file with names and /regular expressions/ that are never entities, one per line.",
        metavar="FILE",
    ),
]
Exact = Annotated[
    bool,
    flag(
        "Compute in float32. By default, CPUs that support int8 use it, which is twice as fast and "
        "changes scores slightly.",
        "--exact",
    ),
]
Dates = Annotated[
    bool,
    flag(
        "Also find dates, with the model multilingual or one trained with fit --dates.",
        "--dates",
    ),
]
Selector = Annotated[
    int | None,
    option(
        "Number of the selector to use, if the model has several; by default the one that was "
        "chosen for entities.",
        metavar="K",
        min=1,
    ),
]


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
        return chain(given, self.read_files(files, problems) if files else ())


@dataclass(frozen=True, kw_only=True)
class FinderOptions(OptionGroup):
    """Which finder to load, and how to use it."""

    model: Model = None
    threshold: Threshold = None
    exact: Exact = False
    kinds: Kinds = None
    always: Always = None
    never: Never = None
    dates: Dates = False

    def choice(self, device: str | None, selector: int | None = None) -> FinderChoice:
        """Return the choice of a finder, which can be loaded here or in other processes."""
        return FinderChoice(
            self.model,
            device,
            selector,
            self.exact,
            read_kinds(self.kinds),
            read_user_rules(self.always, self.never),
            dates=self.dates,
        )


def read_kinds(kinds: str | None) -> KindExamples | str | None:
    """Return the example names in a file; the words of `KindsWord` are returned as they are."""
    if kinds is None or kinds in list(KindsWord):
        return kinds
    if not kinds or not Path(kinds).exists():
        words = [str(each) for each in KindsWord]
        hint = did_you_mean(kinds, words) or f"; give a file, or one of {', '.join(words)}"
        raise InputError(f"there is no file of kinds {kinds or repr(kinds)}{hint}")
    return KindExamples.read(kinds)


def read_user_rules(always: Path | None, never: Path | None) -> "UserRules | None":
    """Read the files of --always and --never; None if neither is given."""
    if always is None and never is None:
        return None
    from thresher.entities.finding.user_rules import UserRules, read_rules  # noqa: PLC0415

    return UserRules(
        () if always is None else read_rules(always), () if never is None else read_rules(never)
    )
