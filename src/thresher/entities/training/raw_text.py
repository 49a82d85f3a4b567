"""Compute the prior and the word signals of raw sentences, before they are encoded.

Sentences that do not fit in memory are kept in files meanwhile (`stored_sentences`).
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import SignalExtractor, WordSignals
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.priors.word_priors import CasingPrior
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.entities.training.settings import EntitySettings
from thresher.text.indexed_sentences import SentenceStore
from thresher.training_processes import Processes
from thresher.work_folder import SENTENCES

# With fewer words, boundaries of names are not learned and runs of words are decoded.
MIN_WORDS_FOR_BOUNDARIES = 20_000


@dataclass(frozen=True)
class RawText:
    """Raw sentences with their prior, their word signals and the words that are never entities.

    prior: (words,), NaN where it gives no probability
    ordinary: words that are not bursty; None if repetition is no signal
    dates: words of dates; None if dates are not entities
    rate: the fraction of possible words that are entities, if the prior knows only some entities
    """

    sentences: Sequence[Sequence[str]]
    statistics: WordStatistics
    prior: NDArray[np.float32]
    ordinary: frozenset[str] | None
    not_names: frozenset[str]
    dates: frozenset[str] | None
    signals: WordSignals
    rate: float | None = None

    @classmethod
    def analyse(
        cls,
        sentences: Sequence[Sequence[str]],
        prior_knowledge: PriorKnowledge,
        settings: EntitySettings,
        *,
        common: Set[str] = frozenset(),
    ) -> "RawText":
        """Compute the prior and the signals of sentences.

        common: words that are common in general. Without them repetition is no signal of an
            entity, since a repeated word may be any noun of the topic.
        """
        prior_knowledge = prior_knowledge.with_default_priors(sentences, common_words=common)
        statistics = WordStatistics.from_sentences(sentences, common_words=common)
        has_repetition = common or "repetition" in prior_knowledge.priors
        ordinary = statistics.ordinary_words() if has_repetition else None
        dates = prior_knowledge.date_words(sentences)
        not_names = prior_knowledge.all_not_names(statistics) - (dates or frozenset())
        extractor = SignalExtractor(
            ordinary=ordinary,
            not_names=not_names,
            dates=dates,
            strict_headlines=statistics.count.total() >= MIN_WORDS_FOR_BOUNDARIES,
        )
        return cls(
            sentences=sentences,
            statistics=statistics,
            prior=prior_knowledge.prior_probabilities(sentences, statistics, settings),
            ordinary=ordinary,
            not_names=not_names,
            dates=dates,
            signals=extractor.extract(sentences),
            rate=settings.bursty_rate if prior_knowledge.only_names_are_positive else None,
        )

    def reference_prior(self) -> NDArray[np.float32]:
        """Return the prior by which one of several selectors is chosen: (words,), NaN for unknown.

        This is the prior of training, or the casing prior if that one marks no word as an entity.
        """
        if (self.prior > 0.5).any():
            return self.prior
        return CasingPrior(self.statistics).probabilities(self.sentences)


@contextmanager
def stored_sentences(
    sentences: Iterable[Sequence[str]], work_dir: Path, processes: Processes
) -> Iterator[SentenceStore]:
    """Write sentences to the work folder, so that they need not fit in memory, and open them.

    The files are removed at the end. Of several processes only the main one reads `sentences` and
    writes the files; the others open them.
    """
    folder = work_dir / SENTENCES
    try:
        if processes.is_main:
            folder.mkdir(exist_ok=True)
            SentenceStore.write(folder, sentences)
        processes.wait()
        yield SentenceStore.open(folder)
    finally:
        if processes.is_main:
            shutil.rmtree(folder, ignore_errors=True)
