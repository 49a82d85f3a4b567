"""What is believed of words before any is read."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.caseless_evidence import (
    Burstiness,
    Contexts,
    Evidence,
    EvidencePrior,
    Surprise,
)
from thresher.entities.priors.dates import DatePrior, date_words
from thresher.entities.priors.scripts import Writing
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES
from thresher.entities.priors.word_priors import (
    CasingPrior,
    ExpectationPrior,
    LetterlessPrior,
    Prior,
    RarityPrior,
    RepetitionPrior,
    WordListPrior,
    first_opinion,
)
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError

EVIDENCE = ("burstiness", "contexts", "surprisal")
PRIORS = ("casing", "repetition", "rarity", *EVIDENCE, "none")


@dataclass(frozen=True, kw_only=True)
class PriorKnowledge:
    """What is believed of words before any is read; all of it may be changed or left out.

    priors: which readings of raw text to use, the first with an opinion deciding; burstiness,
    contexts and surprisal are taken together. By default those that fit how the text is written
    names, not_names: words known to be entities, and known not to be, in any case; a name is a
    name even if it is on both lists
    dates: whether dates are entities too; their words are told by the years beside them
    rates, selected: stated expectations, P(entity | feature) and the overall rate
    surprisal: (words,) of the text to learn from, where it is one of the priors
    """

    priors: Sequence[str] = ()
    names: Set[str] = field(default=frozenset(), repr=False)
    not_names: frozenset[str] = field(default=ENGLISH_NOT_NAMES, repr=False)
    dates: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)
    selected: float | None = None
    surprisal: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in self.priors:
            if name not in PRIORS:
                raise InputError(f"unknown prior {name!r}; choose from {', '.join(PRIORS)}")
        if "surprisal" in self.priors and self.surprisal is None:
            raise InputError("the prior 'surprisal' needs a causal language model to tell it")
        names, others = map(_in_no_case, (self.names, self.not_names))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "not_names", others - names)

    def with_default_priors(
        self, sentences: Sequence[Sequence[str]], *, common: Set[str] = frozenset()
    ) -> "PriorKnowledge":
        """The same with priors that fit how the sentences are written, if none were named.

        Repetition tells terms from plain words only where some are known to be `common` in general.
        """
        if self.priors:
            return self
        chosen = Writing.of(sentences).priors
        return replace(self, priors=[name for name in chosen if common or name != "repetition"])

    def all_not_names(self, statistics: WordStatistics) -> frozenset[str]:
        """Words known not to be names, and those that the text shows not to be."""
        return self.not_names | statistics.never_names() - self.names

    def date_words(self, sentences: Sequence[Sequence[str]]) -> frozenset[str] | None:
        """Words of dates in these sentences; None where dates are no entities."""
        return date_words(sentences) if self.dates else None

    @property
    def names_alone(self) -> bool:
        """Whether only known names are held to be entities, of which they are but some."""
        expected = self.rates or self.selected is not None
        told = expected or not self.priors or set(self.priors) - set(EVIDENCE)
        return bool(self.names) and not told

    def opinions(
        self,
        sentences: Sequence[Sequence[str]],
        statistics: WordStatistics,
        settings: EntitySettings,
    ) -> NDArray[np.float32]:
        """The prior probability of each word, NaN for no opinion."""
        of_dates = self.date_words(sentences)
        burstiness = self._burstiness(sentences)
        names = self.names if burstiness is None else burstiness.affixes.with_stems(self.names)
        chain: list[Prior] = [
            *([] if of_dates is None else [DatePrior(of_dates)]),
            LetterlessPrior(),
            WordListPrior(names, 1.0),
            WordListPrior(self.all_not_names(statistics), 0.0),
        ]
        if self.rates or self.selected is not None:
            chain.append(ExpectationPrior(statistics, self.rates, self.selected))
        readings: dict[str, Prior] = {
            "casing": CasingPrior(statistics),
            "repetition": RepetitionPrior(statistics, settings.repeated_rate),
            "rarity": RarityPrior(statistics, settings.rare_rate),
        }
        if burstiness is not None:
            evidence = EvidencePrior(
                self._evidence(burstiness), settings.bursty_rate, open=bool(self.names)
            )
            readings |= dict.fromkeys(EVIDENCE, evidence)
        chain += [readings[name] for name in self.priors if name != "none"]
        return first_opinion(chain, sentences)

    def _burstiness(self, sentences: Sequence[Sequence[str]]) -> Burstiness | None:
        """What all evidence starts from, if there is to be any; capitals tell of cased words."""
        if not set(self.priors) & set(EVIDENCE):
            return None
        return Burstiness.of(sentences, caseless="casing" in self.priors)

    def _evidence(self, burstiness: Burstiness) -> list[Evidence]:
        kinds: dict[str, Evidence] = {"burstiness": burstiness, "contexts": Contexts(burstiness)}
        if self.surprisal is not None:
            kinds["surprisal"] = Surprise(self.surprisal)
        return [kinds[name] for name in dict.fromkeys(self.priors) if name in kinds]


def _in_no_case(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
