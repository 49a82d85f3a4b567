"""Files of many sentences to measure on, made from the raw text that is there, over and over."""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from benchmarks.data import raw_english


def sentences(count: int) -> Iterator[str]:
    """So many sentences, each with a number of its own, so that no two are the same."""
    raw = [" ".join(words) for words in raw_english() if words]
    for number, text in enumerate(islice(cycle(raw), count)):
        yield f"{text} ({number})"


def write_lines(path: Path, count: int) -> Path:
    """A text, a sentence a line, ten of them a paragraph."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences(count), 1):
            file.write(text + ("\n\n" if number % 10 == 0 else "\n"))
    return path


def write_records(path: Path, count: int, *, bad: int) -> Path:
    """JSONL, a sentence a record with its number; record `bad` is broken."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences(count)):
            line = "{broken" if number == bad else json.dumps({"id": number, "text": text})
            file.write(line + "\n")
    return path
