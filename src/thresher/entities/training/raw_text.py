"""What is read off raw sentences before any encoder reads them."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import SignalExtractor, WordSignals
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.priors.word_priors import CasingPrior
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.entities.training.settings import EntitySettings


@dataclass(frozen=True)
class RawText:
    """Raw sentences, and what is read off them before any encoder does.

    prior: (words,), NaN for no opinion   seen: the other views of each word
    ordinary: words that are not bursty; None where repetition tells nothing
    dates: words of dates; None where dates are no entities
    rate: which share of the possible words are entities, where the prior knows only some of them
    """

    sentences: Sequence[Sequence[str]]
    statistics: WordStatistics
    prior: NDArray[np.float32]
    ordinary: frozenset[str] | None
    not_names: frozenset[str]
    dates: frozenset[str] | None
    seen: WordSignals
    rate: float | None = None

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sequence[str]],
        prior_knowledge: PriorKnowledge,
        settings: EntitySettings,
        *,
        common: Set[str] = frozenset(),
    ) -> "RawText":
        """Compute everything from the sentences; `common`: words that are common in general.

        Without common words repetition is no signal, as any noun may be repeated.
        """
        prior_knowledge = prior_knowledge.with_default_priors(sentences, common_words=common)
        statistics = WordStatistics.from_sentences(sentences, common_words=common)
        tells = common or "repetition" in prior_knowledge.priors
        ordinary = statistics.ordinary_words() if tells else None
        dates = prior_knowledge.date_words(sentences)
        not_names = prior_knowledge.all_not_names(statistics) - (dates or frozenset())
        return cls(
            sentences=sentences,
            statistics=statistics,
            prior=prior_knowledge.prior_probabilities(sentences, statistics, settings),
            ordinary=ordinary,
            not_names=not_names,
            dates=dates,
            seen=SignalExtractor(ordinary=ordinary, not_names=not_names, dates=dates).extract(
                sentences
            ),
            rate=settings.bursty_rate if prior_knowledge.only_names_are_positive else None,
        )

    def judge(self) -> NDArray[np.float32]:
        """What tells which of several selectors finds entities: (words,), NaN for no opinion.

        The prior, or what capitals say where the prior holds no word to be an entity.
        """
        if (self.prior > 0.5).any():
            return self.prior
        return CasingPrior(self.statistics).probabilities(self.sentences)
