"""Write results to standard output, or to a file that appears only when it is complete."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

from thresher.atomic_files import check_can_write, open_atomic
from thresher.cli.options import JsonRunOptions, SummaryOptions, output_option
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.output_lock import lock_output
from thresher.text.sources import find_sources

Write = Callable[[str | bytes], None]

OutputFile = Annotated[
    Path | None, output_option("Write to this file; it appears when it is complete.")
]


def check_outputs(outputs: Iterable[Path | None], sources: list[str]) -> None:
    """Raise `InputError` unless all output files of a command can be written and are no sources.

    outputs: None is standard output, or an option that was not given
    """
    inputs = {Path(name).resolve() for name in find_sources(sources)} if sources else set()
    files: set[Path] = set()
    for path in filter(None, outputs):
        file = path.resolve()
        if file in inputs:
            raise InputError(f"{path} is one of the sources; choose another output file")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder")
        if path.exists() and not path.is_file():
            continue  # a device or a pipe, such as /dev/null
        if file in files:
            raise InputError(f"two outputs have the name {path}; give each its own name")
        check_can_write(path)
        files.add(file)


def chosen_format(given: str | None, output: Path | None, by_suffix: Mapping[str, str]) -> str:
    """Return the given format, or else that of the output file's name; without any, jsonl.

    On a terminal it is `terminal`. A suffix that no format has raises InputError, and so does
    Parquet without a file, because no program could read it from a pipe.
    """
    chosen = given or _default_format(output, by_suffix)
    if chosen == "parquet" and output is None:
        raise InputError("Parquet is not written to standard output; name a file with `output`")
    return chosen


def _default_format(output: Path | None, by_suffix: Mapping[str, str]) -> str:
    if output is None:
        return "terminal" if sys.stdout.isatty() else "jsonl"
    known = {"": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", **by_suffix}
    suffix = output.suffix.lower()
    if suffix not in known:
        suffixes = ", ".join(filter(None, known))
        raise InputError(
            f"cannot tell the format of {output} by its name ({suffixes}); choose one with `to`"
        )
    return known[suffix]


@contextmanager
def open_output(path: Path | None) -> Iterator[Write]:
    """Yield a function that writes text to a file, or to standard output if `path` is None.

    The file is replaced at the end of the block, unless an error occurred. Until then no other run
    can write it.
    """
    with os_errors_as_input_errors(f"cannot write {path or 'to standard output'}"):
        if path is None:
            yield _writer(sys.stdout.buffer)
        elif path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
            with path.open("wb") as stream:
                yield _writer(stream)
        else:
            with lock_output(path), open_atomic(path.resolve()) as stream:
                yield _writer(stream)


def print_line(text: str) -> None:
    """Print one line to standard output."""
    with open_output(None) as write:
        write(f"{text}\n")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 model, 2 models."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def render(renderable: RenderableType) -> str:
    """Return what Rich would print, as text for `print_line`."""
    console = Console()
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().rstrip()


def metrics_table(columns: Mapping[str, Mapping[str, float]]) -> Table:
    """Return a table of metrics: one row per metric, one column per evaluated variant."""
    table = Table("", *columns, box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in next(iter(columns.values())):
        table.add_row(name, *(f"{metrics[name]:.3f}" for metrics in columns.values()))
    return table


def print_summary(
    summary: dict[str, Any], sentence: Callable[[dict[str, Any]], str], run: SummaryOptions
) -> None:
    """Print a summary as JSON, or as the line that `sentence` makes of it."""
    if run.as_json:
        print_line(json.dumps(summary, ensure_ascii=False))
    elif not run.quiet:
        print_line(sentence(summary))


def print_results(
    results: dict[str, Any], heading: str, tables: RenderableType, run: JsonRunOptions
) -> None:
    """Print the results of an evaluation as JSON, or as tables under a line of text."""
    if run.as_json:
        print_line(json.dumps(results, ensure_ascii=False))
        return
    if not run.quiet:
        print_line(heading)
    print_line(render(tables))


def _writer(stream: IO[bytes]) -> Write:
    def write(content: str | bytes) -> None:
        stream.write(content if isinstance(content, bytes) else content.encode(errors="replace"))
        stream.flush()

    return write
