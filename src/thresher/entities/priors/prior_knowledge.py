"""Prior knowledge about words, before training: priors, word lists and expected rates.

`PRIORS` and `EVIDENCE` build the priors that users can choose by name. word_priors.py says how to
add a prior, caseless_evidence.py how to add a kind of evidence.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thresher.entities.choices import PriorName
from thresher.entities.priors.caseless_evidence import (
    Burstiness,
    Contexts,
    Evidence,
    EvidencePrior,
    SurprisalEvidence,
)
from thresher.entities.priors.dates import DatePrior, date_words
from thresher.entities.priors.scripts import ScriptProfile
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES
from thresher.entities.priors.word_priors import (
    CasingPrior,
    ExpectationPrior,
    LetterlessPrior,
    Prior,
    Probabilities,
    PseudoLabelPrior,
    RarityPrior,
    RepetitionPrior,
    Sentences,
    WordListPrior,
    first_probability,
)
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.errors import InputError
from thresher.validation import require, require_choice

if TYPE_CHECKING:
    from thresher.entities.training.settings import EntitySettings


@dataclass(frozen=True)
class PriorInputs:
    """The data from which priors and evidence are built.

    settings: has the rates of priors
    surprisal: (words,), of the sentences; needed only by the prior of that name
    caseless_only: use evidence only for words of scripts without case
    """

    sentences: Sequence[Sequence[str]]
    statistics: WordStatistics
    settings: "EntitySettings"
    surprisal: NDArray[np.float32] | None = None
    caseless_only: bool = False

    @cached_property
    def burstiness(self) -> Burstiness:
        """The burstiness of words, from which other evidence is computed."""
        return Burstiness.from_sentences(self.sentences, caseless_only=self.caseless_only)


def _surprisal_evidence(inputs: PriorInputs) -> Evidence:
    assert inputs.surprisal is not None  # PriorKnowledge checks it
    return SurprisalEvidence(inputs.surprisal)


PRIORS: Mapping[PriorName, Callable[[PriorInputs], Prior]] = {
    PriorName.CASING: lambda inputs: CasingPrior(inputs.statistics),
    PriorName.REPETITION: lambda inputs: RepetitionPrior(
        inputs.statistics, inputs.settings.repeated_rate
    ),
    PriorName.RARITY: lambda inputs: RarityPrior(inputs.statistics, inputs.settings.rare_rate),
}

EVIDENCE: Mapping[PriorName, Callable[[PriorInputs], Evidence]] = {
    PriorName.BURSTINESS: lambda inputs: inputs.burstiness,
    PriorName.CONTEXTS: lambda inputs: Contexts(inputs.burstiness),
    PriorName.SURPRISAL: _surprisal_evidence,
}


@dataclass(frozen=True, kw_only=True)
class PriorKnowledge:
    """Prior knowledge about words; every part has a default and can be left out.

    Each word gets its probability from the first of these that gives one: dates; words without
    letters (0); names (1); words that are listed, or shown by the text, not to be names (0);
    expected rates; the chosen priors. Expected rates give every word a probability, so the chosen
    priors are not used with them.

    priors: names from `PriorName`, in order; for each word the first that gives a probability is
        used. Burstiness, contexts and surprisal are combined into one. By default those that fit
        the script of the text
    names, not_names: words that are entities, and words that are not, in any case; a word on both
        lists is a name
    dates: whether dates are entities, too; their words are found by the years next to them
    rates, selected: expected rates, P(entity | feature) and the overall rate of entity words
    surprisal: (words,), of the training text, for the prior of that name
    gates: (words,), P(open) of another finder on the training text; confident ones are labels of
        words that nothing else gives a probability. NaN for words that are left out
    """

    priors: Sequence[str] = ()
    names: Set[str] = field(default=frozenset(), repr=False)
    not_names: frozenset[str] = field(default=ENGLISH_NOT_NAMES, repr=False)
    dates: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)
    selected: float | None = None
    surprisal: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    gates: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("priors", "names", "not_names"):
            value = getattr(self, name)
            got = f"the string {str(value)!r}"
            require(not isinstance(value, str), name, got, "a list of names")
        for name in self.priors:
            require_choice("priors", name, PriorName)
        if PriorName.SURPRISAL in self.priors and self.surprisal is None:
            raise InputError("the prior 'surprisal' needs a causal language model")
        names, not_names = map(_case_folded, (self.names, self.not_names))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "not_names", not_names - names)

    def with_default_priors(
        self, sentences: Sentences, *, common_words: Set[str] = frozenset()
    ) -> "PriorKnowledge":
        """Return this with the default priors for the script of the text, if none are chosen.

        Repetition distinguishes technical terms from ordinary words only if the `common_words` of
        the language are known, so without them it is left out.
        """
        if self.priors:
            return self
        priors = ScriptProfile.from_sentences(sentences).default_priors
        if not common_words:
            priors = tuple(name for name in priors if name != PriorName.REPETITION)
        return replace(self, priors=priors)

    def all_not_names(self, statistics: WordStatistics) -> frozenset[str]:
        """Return the words known not to be names, and those that the text shows not to be."""
        return self.not_names | statistics.never_names() - self.names

    def date_words(self, sentences: Sentences) -> frozenset[str] | None:
        """Return the words of dates in these sentences; None if dates are not entities."""
        return date_words(sentences) if self.dates else None

    @property
    def only_names_are_positive(self) -> bool:
        """True if the listed names are the only words with a probability above 0."""
        has_rates = self.rates or self.selected is not None
        has_others = has_rates or not self.priors or set(self.priors) - set(EVIDENCE)
        return bool(self.names) and not has_others

    def prior_probabilities(
        self, sentences: Sentences, statistics: WordStatistics, settings: "EntitySettings"
    ) -> Probabilities:
        """Return the prior probability of each word, NaN where no prior gives one: (words,)."""
        inputs = PriorInputs(
            sentences,
            statistics,
            settings,
            surprisal=self.surprisal,
            caseless_only=PriorName.CASING in self.priors,
        )
        priors = [*self._priors_from_lists(inputs), *self._chosen_priors(inputs)]
        if self.gates is not None:
            priors.append(PseudoLabelPrior(self.gates))
        return first_probability(priors, sentences)

    def _priors_from_lists(self, inputs: PriorInputs) -> Iterator[Prior]:
        """Yield the priors of dates, word lists and expected rates."""
        words_of_dates = self.date_words(inputs.sentences)
        if words_of_dates is not None:
            yield DatePrior(words_of_dates)
        yield LetterlessPrior()
        names = self.names
        if self._evidence_names:
            names = inputs.burstiness.affixes.with_stems(names)
        yield WordListPrior(names, 1.0)
        yield WordListPrior(self.all_not_names(inputs.statistics), 0.0)
        if self.rates or self.selected is not None:
            yield ExpectationPrior(inputs.statistics, self.rates, self.selected)

    def _chosen_priors(self, inputs: PriorInputs) -> Iterator[Prior]:
        """Yield the priors that were chosen by name, with all evidence as one prior."""
        for name in map(PriorName, self.priors):
            if name in PRIORS:
                yield PRIORS[name](inputs)
            elif name in self._evidence_names[:1]:
                evidence = [EVIDENCE[each](inputs) for each in self._evidence_names]
                yield EvidencePrior(
                    evidence, inputs.settings.bursty_rate, negatives_only=bool(self.names)
                )

    @property
    def _evidence_names(self) -> list[PriorName]:
        """The chosen kinds of evidence, without duplicates."""
        return [PriorName(name) for name in dict.fromkeys(self.priors) if name in EVIDENCE]


def _case_folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
