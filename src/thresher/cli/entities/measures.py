"""Figures of a finder on sentences whose entities someone has tagged."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from thresher.entities.evaluation import (
    Calibration,
    Counts,
    calibration,
    span_counts,
    word_average_precision,
    word_counts,
)
from thresher.errors import InputError
from thresher.text.annotations import TaggedSentence
from thresher.text.formats.conll import read_conll
from thresher.text.formats.labelling_tools import read_labelled
from thresher.text.sources import find_sources, spoken_names

if TYPE_CHECKING:
    from thresher import EntityFinder


@dataclass(frozen=True)
class Gold:
    """The tagged sentences of some texts; a CoNLL file is one text."""

    texts: Sequence[Sequence[TaggedSentence]]

    @classmethod
    def read(cls, sources: Iterable[str], *, format: str = "conll") -> "Gold":  # noqa: A002
        """All of it, or an error: figures on a part would mislead."""
        names = find_sources(sources)
        if format == "conll":
            texts = [list(read_conll(name)) for name in names]
        else:
            labelled = (read_labelled(name, format=format) for name in names)
            texts = [text.sentences() for each in labelled for text in each]
        gold = cls(texts)
        if not gold.sentences:
            raise InputError(f"no text in {spoken_names(names)} was labelled")
        if not any(each.spans for each in gold.sentences):
            raise InputError(f"no entity is tagged in {spoken_names(names)}: nothing to measure by")
        return gold

    @property
    def sentences(self) -> list[TaggedSentence]:
        """Those of all texts."""
        return [sentence for text in self.texts for sentence in text]

    def counts(self) -> dict[str, int]:
        """How much there is."""
        return {
            "sentences": len(self.sentences),
            "words": sum(len(each.words) for each in self.sentences),
            "spans": sum(len(each.spans) for each in self.sentences),
        }


@dataclass(frozen=True)
class Measures:
    """How well words and exact spans are found."""

    average_precision: float
    words: Counts
    spans: Counts
    calibration: Calibration

    def figures(self) -> dict[str, float]:
        """For a person to read."""
        return {
            "word AP": self.average_precision,
            "word precision": self.words.precision,
            "word recall": self.words.recall,
            "word F1": self.words.f1,
            "exact span precision": self.spans.precision,
            "exact span recall": self.spans.recall,
            "exact span F1": self.spans.f1,
            "calibration error": self.calibration.error,
        }

    def as_json(self) -> dict[str, Any]:
        """For a program to read."""
        return {
            "word": {"average_precision": self.average_precision, **shares(self.words)},
            "span": shares(self.spans),
            "calibration_error": self.calibration.error,
            "calibration": [asdict(each) for each in self.calibration.bins],
        }


def measure(
    finder: "EntityFinder",
    gold: Gold,
    *,
    threshold: float,
    write: Callable[[str], str] = str,
    count: Callable[[int], None] = lambda sentences: None,
) -> Measures:
    """What is found against what is tagged, with every word written some other way."""
    readings = []
    for text in gold.texts:
        for reading in finder.score_long_text(list(map(write, each.words)) for each in text):
            readings.append(reading)
            count(1)
    spans = [each.spans for each in gold.sentences]
    scores = [each.scores for each in readings]
    candidates = [each.candidates for each in readings]
    return Measures(
        word_average_precision(spans, scores),
        word_counts(spans, scores),
        span_counts(spans, candidates, threshold=threshold),
        calibration(spans, candidates),
    )


def shares(counts: Counts) -> dict[str, float]:
    """What was counted, for a program to read, and the shares that follow from it."""
    found = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return found | asdict(counts)
