"""The priors and kinds of evidence that users can choose by name, and how each is built.

word_priors.py says how to add a prior, caseless_evidence.py how to add a kind of evidence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thresher.entities.choices import PriorName
from thresher.entities.priors.caseless_evidence import (
    Burstiness,
    Contexts,
    Evidence,
    SurprisalEvidence,
)
from thresher.entities.priors.word_priors import CasingPrior, Prior, RarityPrior, RepetitionPrior
from thresher.entities.priors.word_statistics import WordStatistics

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
