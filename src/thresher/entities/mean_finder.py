"""A finder whose gates are the mean of those of several finders."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from thresher.entities.encoding_finder import EncodingFinder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import gate_log_odds
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import Links
from thresher.entities.kinds.assignment import EncodedWords


class MeanFinder(EncodingFinder):
    """Finds entities with the mean log-odds of the gates of several finders.

    Encoders differ in the words that they know, so the mean of two finders is often better than
    both. Everything else is that of the first finder: signals, span model, threshold and kinds.

    >>> names = ["english", "multilingual"]
    >>> MeanFinder([EntityFinder.load(name) for name in names]).find("Marie Curie left Paris.")
    [Span(start=0, end=11, text='Marie Curie', score=…), Span(start=17, end=22, text='Paris', …)]
    """

    def __init__(self, finders: Sequence[EntityFinder]) -> None:
        self.finders = tuple(finders)
        first = self.finders[0]
        super().__init__(
            first._sentence_scorer, threshold=first.threshold, scripts=first.model.scripts
        )

    @property
    def lacks_int8(self) -> bool:
        """True if one of the models can run in int8 on a CPU, but this CPU cannot."""
        return any(finder.lacks_int8 for finder in self.finders)

    def adapted_to_words(self, texts: Iterable[SplitText]) -> Self:
        """Return a finder whose first finder is adapted to texts that are split into words."""
        first, *others = self.finders
        return type(self)([first.adapted_to_words(texts), *others])

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return the mean gates and links of words, and the vectors of the first finder."""
        first = self.finders[0].encode(sentences)
        others = [each.word_scorer.gates_and_links(sentences) for each in self.finders[1:]]
        gates = [first.gate_scores, *(gates for gates, _ in others)]
        log_odds = np.mean([gate_log_odds(each) for each in gates], axis=0)
        links = [first.links, *(links for _, links in others)]
        return replace(first, gate_scores=1 / (1 + np.exp(-log_odds)), links=_mean(links))


def _mean(links: Sequence[Links | None]) -> Links | None:
    """Return the mean of the link gates of those finders that have one: (words,)."""
    known = [each for each in links if each is not None]
    return np.mean(known, axis=0) if known else None
