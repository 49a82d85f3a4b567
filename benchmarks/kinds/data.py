"""The annotated sets with kinds, and the example names for each; no example comes from them.

The names were written from common knowledge: those in `examples/` before the sets were looked at,
those in `src/thresher/entities/kinds/english.toml` in part after wrong kinds on the tune split of
Wikigold had been read, to list more sorts of names. None was copied from a set.
"""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import DATA
from thresher.entities.kinds.examples import KindExamples
from thresher.text.formats.conll import read_conll

EXAMPLES = Path(__file__).parent / "examples"
DOMAINS = ("politics", "science", "music", "literature", "ai")

TUNE = {
    "wikigold": "ner/wikigold/tune.conll",
    "wnut17": "ner/wnut17/train.conll",
    "bc5cdr": "ner/bc5cdr/train.tsv",
    **{f"crossner-{domain}": f"ner/crossner/{domain}/train.txt" for domain in DOMAINS},
}
REPORT = {
    "wikigold": "ner/wikigold/report.conll",
    "ewt": "ner/ewt/dev.iob2",
    "wnut17": "ner/wnut17/dev.conll",
    "bc5cdr": "ner/bc5cdr/dev.tsv",
    **{f"crossner-{domain}": f"ner/crossner/{domain}/dev.txt" for domain in DOMAINS},
}
# The built-in kinds by the labels of these sets; a kind without a label is not annotated there.
BUILT_IN_LABELS = {
    "wikigold": {
        "person": "PER",
        "place": "LOC",
        "organisation": "ORG",
        **dict.fromkeys(("group", "product", "work", "event"), "MISC"),
    },
    "ewt": {"person": "PER", "place": "LOC", "organisation": "ORG"},
}
# Sets for which raw text of the domain is given with the examples: the words of the tune split.
WITH_TEXT = ("bc5cdr", *(f"crossner-{domain}" for domain in DOMAINS))


@dataclass(frozen=True)
class TypedSet:
    """The sentences of a set, with gold spans in words and their labels in lower case."""

    name: str
    sentences: list[list[str]]
    spans: list[list[tuple[int, int]]]
    labels: list[list[str]]

    @classmethod
    def read(cls, name: str, split: dict[str, str]) -> "TypedSet":
        tagged = list(read_conll(DATA / split[name]))
        return cls(
            name,
            [list(each.words) for each in tagged],
            [list(each.spans) for each in tagged],
            [[label.lower() for label in each.labels] for each in tagged],
        )

    def lowered(self) -> "TypedSet":
        """Return the set in lower case."""
        words = [[word.lower() for word in sentence] for sentence in self.sentences]
        return TypedSet(self.name, words, self.spans, self.labels)

    def cases(self) -> dict[str, "TypedSet"]:
        """Return the set as it is ("cased") and in lower case ("lower")."""
        return {"cased": self, "lower": self.lowered()}

    def typed_spans(self) -> list[set[tuple[int, int, str]]]:
        """Return the gold spans of each sentence with their labels."""
        return [
            {(start, end, label) for (start, end), label in zip(spans, labels, strict=True)}
            for spans, labels in zip(self.spans, self.labels, strict=True)
        ]


def examples_of(name: str) -> KindExamples:
    """Return the example names for a set: its own, or the built-in ones."""
    path = EXAMPLES / f"{name}.toml"
    return KindExamples.read(path) if path.exists() else KindExamples.english()


def label_of(name: str, kind: str | None) -> str | None:
    """Return the label of a set, in lower case, that a kind stands for; None if it has none."""
    if kind is None:
        return None
    labels = BUILT_IN_LABELS.get(name)
    if labels is None:
        return kind
    return labels[kind].lower() if kind in labels else None


def domain_text(name: str) -> list[list[str]]:
    """Return the words of the tune split of a set, as raw text of its domain."""
    return TypedSet.read(name, TUNE).sentences
