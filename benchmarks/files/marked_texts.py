"""Read texts whose entities are marked with ⟦ and ⟧, and compare them with what a finder finds."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import ROOT
from thresher.entities.finding.text_finder import TextFinder
from thresher.text import read_texts

FOLDER = ROOT / "tests" / "fixtures" / "real_text"
KINDS = {
    "news": ("news.txt",),
    "web page": ("page.html", "forum.html"),
    "Markdown": ("notes.md", "guide.md"),
    "table": ("table.csv",),
    "e-mail": ("mail.eml",),
    "chat": ("chat.txt",),
    "contract": ("contract.txt",),
    "abstract": ("abstract.txt",),
    "source code": ("program.py.txt",),
}
_FIELDS = {".csv": "body"}

Bounds = tuple[int, int]


@dataclass(frozen=True)
class MarkedText:
    """A text as `read_texts` extracts it, the bounds of its entities, and its other fields."""

    text: str
    gold: frozenset[Bounds]
    fields: dict[str, object]


@dataclass(frozen=True)
class Counts:
    """Names that were found exactly, missed, and found although they are not marked.

    partial: of the false ones, those that overlap a marked name
    """

    exact: int = 0
    missed: int = 0
    false: int = 0
    partial: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.exact + other.exact,
            self.missed + other.missed,
            self.false + other.false,
            self.partial + other.partial,
        )

    @property
    def false_share(self) -> float:
        """The part of the found names that are false."""
        found = self.exact + self.false
        return self.false / found if found else 0.0


def marked_texts(name: str) -> Iterator[MarkedText]:
    """Yield the texts of a file; without the marks, the same texts are extracted from it."""
    path = FOLDER / name
    field = _FIELDS.get(path.suffix, "text")
    marked = list(read_texts(path, field=field))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / name
        plain.write_text(re.sub("[⟦⟧]", "", path.read_text(encoding="utf-8")), encoding="utf-8")
        documents = list(read_texts(plain, field=field))
    for with_marks, document in zip(marked, documents, strict=True):
        text, gold = without_marks(with_marks.text)
        if text != document.text:
            raise ValueError(f"the marks of {name} change the extracted text")
        yield MarkedText(text, gold, dict(document.fields))


def without_marks(marked: str) -> tuple[str, frozenset[Bounds]]:
    """Return a text without its marks, and the bounds of what was marked."""
    text, gold = "", set()
    for part in re.split("(⟦.*?⟧)", marked):
        name = part.strip("⟦⟧")
        if part.startswith("⟦"):
            gold.add((len(text), len(text) + len(name)))
        text += name
    return text, frozenset(gold)


def count(finder: TextFinder, text: MarkedText) -> Counts:
    """Return how the names that a finder finds in a text agree with the marked ones."""
    found = {(span.start, span.end) for span in finder.find(text.text)}
    false = found - text.gold
    partial = sum(any(s < end and start < e for s, e in text.gold) for start, end in false)
    exact = len(found & text.gold)
    return Counts(exact, len(text.gold) - exact, len(false), partial)


def differences(finder: TextFinder, text: MarkedText) -> tuple[list[str], list[str]]:
    """Return the names that were missed, and the false ones."""
    found = {(span.start, span.end) for span in finder.find(text.text)}
    missed, false = sorted(text.gold - found), sorted(found - text.gold)
    return [text.text[s:e] for s, e in missed], [text.text[s:e] for s, e in false]
