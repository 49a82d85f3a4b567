"""Where output goes: standard output as it comes, or a file that appears whole or not at all."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

from thresher.atomic_files import open_atomic
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.text.sources import find_sources

Write = Callable[[str], None]

OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write there; the file appears when it is whole.",
    ),
]


def refuse_to_overwrite(sources: list[str], output: Path | None) -> None:
    """What is read must not be what is written."""
    read = [Path(name).resolve() for name in find_sources(sources)]
    if output is not None and output.resolve() in read:
        raise InputError(f"{output} is one of the sources; choose another place for what is found")


def default_format(output: Path | None, by_suffix: Mapping[str, str]) -> str:
    """What the name of the file says, else jsonl; on a terminal, what is made to be looked at."""
    if output is not None:
        return by_suffix.get(output.suffix.lower(), "jsonl")
    return "terminal" if sys.stdout.isatty() else "jsonl"


@contextmanager
def opened(path: Path | None) -> Iterator[Write]:
    """A function that writes text; what it wrote to a file is there once the block has ended."""
    with os_errors_as_input_errors(f"cannot write {path or 'to standard output'}"):
        if path is None:
            yield _writer(sys.stdout.buffer)
        elif path.exists() and not path.is_file():  # a device or a pipe cannot be exchanged
            with path.open("wb") as stream:
                yield _writer(stream)
        else:
            with open_atomic(path.resolve()) as stream:
                yield _writer(stream)


def print_line(text: str) -> None:
    """One line on standard output."""
    with opened(None) as write:
        write(f"{text}\n")


def several(count: int, noun: str) -> str:
    """1 model, 2 models."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def rendered(picture: RenderableType) -> str:
    """What Rich makes of a table, as text for `print_line`."""
    console = Console()
    with console.capture() as shown:
        console.print(picture)
    return shown.get().rstrip()


def figures_table(columns: Mapping[str, Mapping[str, float]]) -> Table:
    """Figures by their names, a column for each of several things that have the same ones."""
    table = Table("", *columns, box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in next(iter(columns.values())):
        table.add_row(name, *(f"{figures[name]:.3f}" for figures in columns.values()))
    return table


def print_summary(
    summary: dict[str, Any],
    in_words: Callable[[dict[str, Any]], str],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """What was made, for a program or in a line for a person who looks on."""
    if as_json:
        print_line(json.dumps(summary, ensure_ascii=False))
    elif not quiet:
        print_line(in_words(summary))


def _writer(stream: IO[bytes]) -> Write:
    def write(text: str) -> None:
        stream.write(text.encode(errors="replace"))
        stream.flush()

    return write
