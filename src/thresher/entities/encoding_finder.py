"""The base class of finders that encode words, with torch, numpy or ONNX Runtime."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain

from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import SplitText, TextFinder
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.readable_scripts import unreadable_text
from thresher.entities.sentence_scorer import SentenceScorer
from thresher.text.indexed_sentences import IndexedSentences


class EncodingFinder(TextFinder):
    """Finds entities with the words that a subclass encodes.

    sentence_scorer: computes scores, candidates and kinds from encoded words
    scripts: those that the model can read; None if it can read all, or it is not known
    """

    def __init__(
        self,
        sentence_scorer: SentenceScorer,
        *,
        threshold: float,
        scripts: frozenset[str] | None = None,
    ) -> None:
        self._sentence_scorer = sentence_scorer
        self._threshold, self._scripts = threshold, scripts

    @property
    def threshold(self) -> float:
        """The smallest score of a candidate that counts as an entity."""
        return self._threshold

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that spans can have; empty if the finder knows none."""
        assigner = self._sentence_scorer.assigner
        return assigner.classifier.kinds if assigner else ()

    def unreadable(self, text: str) -> str | None:
        """Return why the model cannot read a text, and which model can; None if it can."""
        return unreadable_text(text, self._scripts)

    @abstractmethod
    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return vectors and gate scores of words; those of a sentence depend on no other one."""

    def _score(self, texts: Sequence[SplitText]) -> list[ScoredSentence]:
        sentences = IndexedSentences.from_sentences(chain.from_iterable(texts))
        return self._sentence_scorer.score(texts, self.encode(sentences), sentences)
