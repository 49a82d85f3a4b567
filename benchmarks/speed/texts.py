"""Write files of any number of sentences by repeating the raw English text."""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from benchmarks.data import raw_english


def sentences(count: int) -> Iterator[str]:
    """Yield `count` sentences, each with its number, so that no two are equal."""
    raw = [" ".join(words) for words in raw_english() if words]
    for number, text in enumerate(islice(cycle(raw), count)):
        yield f"{text} ({number})"


def write_lines(path: Path, count: int) -> Path:
    """Write a text with one sentence per line and ten sentences per paragraph."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences(count), 1):
            file.write(text + ("\n\n" if number % 10 == 0 else "\n"))
    return path


def write_records(path: Path, count: int, *, bad: int) -> Path:
    """Write JSONL with one sentence per record; record number `bad` is not valid JSON."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(sentences(count)):
            line = "{broken" if number == bad else json.dumps({"id": number, "text": text})
            file.write(line + "\n")
    return path
