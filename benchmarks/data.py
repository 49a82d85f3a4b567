"""The data beside the project: raw text to learn from, gold sentences to tune and to report on.

The folder is named by THRESHER_DATA, or is `shared/data` beside the checkout.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from thresher.text.annotations import TaggedSentence
from thresher.text.formats.conll import read_conll
from thresher.text.sentences import segment

ROOT = Path(__file__).parents[1]
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
RAW_ENGLISH = ("web.txt", "wiki.txt", "speeches.txt", "novel.txt")


@dataclass(frozen=True)
class Gold:
    """Sentences of one set, with their gold spans of words."""

    name: str
    sentences: list[list[str]]
    spans: list[list[tuple[int, int]]]

    def lowered(self) -> "Gold":
        """The same set in lower case."""
        return Gold(self.name, [[w.lower() for w in words] for words in self.sentences], self.spans)


def gold(split: dict[str, str]) -> list[Gold]:
    return [_gold(name, list(read_conll(DATA / path))) for name, path in split.items()]


def _gold(name: str, sentences: list[TaggedSentence]) -> Gold:
    return Gold(
        name,
        [list(sentence.words) for sentence in sentences],
        [list(sentence.spans) for sentence in sentences],
    )


def raw_english() -> list[list[str]]:
    """Sentences to learn English from: raw text, and the bare words of the tuning sets."""
    sentences = []
    for name in RAW_ENGLISH:
        text = (DATA / "raw" / "eng" / name).read_text(encoding="utf-8")
        sentences += [list(each.texts) for each in segment(text)]
    for tune in gold(TUNE):
        sentences += tune.sentences
    return sentences
