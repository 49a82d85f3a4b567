"""Paths of the benchmarks and their data: raw text to learn from, gold sentences to score on.

The data folder is the value of THRESHER_DATA, or `shared/data` next to the checkout.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from thresher.text.annotations import TaggedSentence
from thresher.text.formats.conll import read_conll
from thresher.text.sentences import segment

ROOT = Path(__file__).parents[1]
ALL_RESULTS = ROOT / "benchmarks" / "results"
PICTURES = ROOT / "docs" / "pictures"
MODELS = ROOT / "benchmarks" / "models"
TEACHER = ROOT / "benchmarks" / "entities" / "teacher"  # what the built-in English models imitate
NARROW = MODELS / "narrow"  # the model that becomes english
DISTILLED = MODELS / "distilled"  # the model that becomes fast-english
SMALL = MODELS / "small"  # the model that becomes small-english
DATA = Path(os.environ.get("THRESHER_DATA", ROOT.parent / "shared" / "data"))

TUNE = {
    "wnut17": "ner/wnut17/train.conll",
    "bc5cdr": "ner/bc5cdr/train.tsv",
    "wikigold": "ner/wikigold/tune.conll",
}
REPORT = {
    "wnut17": "ner/wnut17/dev.conll",
    "ewt": "ner/ewt/dev.iob2",
    "bc5cdr": "ner/bc5cdr/dev.tsv",
    "wikigold": "ner/wikigold/report.conll",
}
CROSSNER_DOMAINS = ("politics", "science", "music", "literature", "ai")
RAW_ENGLISH = ("web.txt", "wiki.txt", "speeches.txt", "novel.txt")


@dataclass(frozen=True)
class Gold:
    """The sentences of one annotated set, with their gold spans in word indices."""

    name: str
    sentences: list[list[str]]
    spans: list[list[tuple[int, int]]]

    @classmethod
    def of(cls, name: str, sentences: list[TaggedSentence]) -> "Gold":
        return cls(
            name,
            [list(sentence.words) for sentence in sentences],
            [list(sentence.spans) for sentence in sentences],
        )

    def first(self, count: int) -> "Gold":
        """Return the first `count` sentences."""
        return Gold(self.name, self.sentences[:count], self.spans[:count])

    def lowered(self) -> "Gold":
        """Return the set in lower case."""
        return Gold(self.name, [[w.lower() for w in words] for words in self.sentences], self.spans)

    def cases(self) -> dict[str, "Gold"]:
        """Return the set as it is ("cased") and in lower case ("lower")."""
        return {"cased": self, "lower": self.lowered()}


def read_gold(split: dict[str, str]) -> list[Gold]:
    """Read the sets of a split (TUNE or REPORT)."""
    return [Gold.of(name, list(read_conll(DATA / path))) for name, path in split.items()]


def read_crossner(split: str) -> list[Gold]:
    """Read the five domains of CrossNER: `train` is for tuning, `dev` for reporting."""
    paths = {name: f"ner/crossner/{name}/{split}.txt" for name in CROSSNER_DOMAINS}
    return read_gold(paths)


def raw_english() -> list[list[str]]:
    """Return the sentences to learn English from: raw text, and the words of the tuning sets."""
    sentences = []
    for name in RAW_ENGLISH:
        text = (DATA / "raw" / "eng" / name).read_text(encoding="utf-8")
        sentences += [list(each.texts) for each in segment(text)]
    for tune in read_gold(TUNE):
        sentences += tune.sentences
    return sentences
