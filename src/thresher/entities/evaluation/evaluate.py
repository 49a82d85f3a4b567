"""Evaluate a finder on texts with annotated entities."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.entities.evaluation import metrics
from thresher.entities.evaluation.kinds import (
    KindEvaluation,
    evaluate_kinds,
    kind_names,
    labels_of,
)
from thresher.entities.evaluation.metrics import Calibration, Counts
from thresher.entities.finding.text_finder import TextFinder
from thresher.errors import InputError, WarningHandler
from thresher.text.annotations import TaggedSentence
from thresher.text.formats.annotation_tools import read_annotated
from thresher.text.formats.conll import read_conll
from thresher.text.sources import display_names, find_sources
from thresher.text.streams import require_encoding


@dataclass(frozen=True)
class GoldTexts:
    """Labelled texts, each a sequence of sentences; a CoNLL file is one text."""

    texts: Sequence[Sequence[TaggedSentence]]

    @classmethod
    def read(
        cls,
        sources: Iterable[str],
        *,
        format: str = "conll",  # noqa: A002
        encoding: str | None = None,
        on_skipped: WarningHandler | None = None,
    ) -> "GoldTexts":
        """Read files; a record that cannot be read is an error, since skipping it changes results.

        format: conll, prodigy, doccano or label-studio
        encoding: the character encoding; by default UTF-8
        on_skipped: called with one line for each folder that has files of no known format
        """
        names = find_sources(sources, on_skipped=on_skipped)
        if encoding is not None:
            encoding = require_encoding(encoding)
        if format == "conll":
            texts = [list(read_conll(name, encoding=encoding)) for name in names]
        else:
            files = (read_annotated(name, format=format, encoding=encoding) for name in names)
            texts = [text.sentences() for file in files for text in file]
        gold = cls(texts)
        if not gold.sentences:
            raise InputError(f"no text in {display_names(names)} is labelled")
        if not any(sentence.spans for sentence in gold.sentences):
            raise InputError(f"no entity is labelled in {display_names(names)}: cannot evaluate")
        return gold

    @property
    def sentences(self) -> list[TaggedSentence]:
        """The sentences of all texts."""
        return [sentence for text in self.texts for sentence in text]

    @property
    def labels(self) -> list[str]:
        """The labels that name a kind, the most frequent first; not "ENT"."""
        return labels_of(self.sentences)

    def kind_names(
        self, kinds: Sequence[str], kind_map: Mapping[str, str] | None = None
    ) -> dict[str, str | None] | None:
        """Return the common names of labels and kinds; None if there are no labels or no kinds.

        kinds: those that a finder knows   kind_map: as in `evaluate_finder`
        """
        if kinds and self.labels:
            return kind_names(self.labels, kinds, kind_map)
        if kind_map:
            missing = "the gold data has none" if kinds else "the model knows none"
            raise InputError(f"`kind_map` maps names of kinds, but {missing}")
        return None

    def counts(self) -> dict[str, int]:
        """Return the numbers of sentences, words and spans."""
        return {
            "sentences": len(self.sentences),
            "words": sum(len(each.words) for each in self.sentences),
            "spans": sum(len(each.spans) for each in self.sentences),
        }


@dataclass(frozen=True)
class FinderEvaluation:
    """How well a finder scores words and finds exact spans.

    words: of words with a score of at least one half   spans: of spans above the threshold
    kinds: None if the finder knows no kinds or the gold data has none
    """

    average_precision: float
    words: Counts
    spans: Counts
    calibration: Calibration
    kinds: KindEvaluation | None = None

    def figures(self) -> dict[str, float]:
        """Return the figures by their names in a table."""
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
        """Return figures and counts as values that JSON can hold."""
        return {
            "word": {"average_precision": self.average_precision, **self.words.as_json()},
            "span": self.spans.as_json(),
            "calibration_error": self.calibration.error,
            "calibration": [asdict(each) for each in self.calibration.bins],
            **({} if self.kinds is None else {"typed": self.kinds.as_json()}),
        }


def evaluate_finder(
    finder: TextFinder,
    gold: GoldTexts,
    *,
    threshold: float | None = None,
    lower_case: bool = False,
    adapt: bool = False,
    kind_map: Mapping[str, str] | None = None,
    progress: Callable[[int], None] = lambda sentences: None,
) -> FinderEvaluation:
    """Compare what a finder finds with the labels.

    threshold: the smallest score of a span; by default that of the finder
    lower_case: convert all words to lower case before finding
    adapt: adapt the finder to the texts first, without their labels
    kind_map: what kinds in gold data, or those of the finder, are called in the results:
        {"PER": "person"}. A kind that is called "none" counts as no kind
    progress: is called with 1 after each sentence
    """
    names = gold.kind_names(finder.kinds, kind_map)
    texts = [
        [_lower(each.words) if lower_case else each.words for each in text] for text in gold.texts
    ]
    if adapt:
        finder = finder.adapted_to_words(texts)
    scored = []
    for text in texts:
        for sentence in finder.score_long_text(text):
            scored.append(sentence)
            progress(1)
    spans = [each.spans for each in gold.sentences]
    scores = [each.scores for each in scored]
    candidates = [each.candidates for each in scored]
    threshold = finder.threshold if threshold is None else threshold
    found = [each.found(threshold) for each in scored]
    return FinderEvaluation(
        metrics.word_average_precision(spans, scores),
        metrics.word_counts(spans, scores),
        metrics.span_counts(spans, found),
        metrics.calibration(spans, candidates),
        None if names is None else evaluate_kinds(gold.sentences, found, names),
    )


def _lower(words: Sequence[str]) -> list[str]:
    return [word.lower() for word in words]
