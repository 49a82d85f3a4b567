"""Combine gates with the other signals of words, weighted by log-likelihood ratios.

Gates, case and repetition are three weak signals of the same hidden label. The weights of the
other two are estimated on raw text: gate probabilities near 0 or 1 (*anchors*) serve as
pseudo-labels, and the value of a signal is counted among them. It adds to the log-odds of a word

    ⅓ log P(value | entity) / P(value | other)

The factor is a third because the three signals share most of their information. With a span model
it is a fifth for case, because that model reads the case of neighbours, too. If the encoder was
trained on the same text, common words are unknown and repetition is no signal: then case is the
only one besides the gate, and its log ratio counts fully.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import Flags, WordSignals
from thresher.entities.priors.casing import Casing

MIN_ENTITY_GATE, MAX_OTHER_GATE = 0.85, 0.03  # gates beyond these are anchors
MIN_ANCHORS = 30
TRUST, CASE_TRUST_WITH_SPANS = 1 / 3, 1 / 5

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class SignalWeights:
    """The log-odds of being part of an entity that each signal value adds to a word.

    caseless: of a word in a script without case. In other scripts, lower case is evidence against
        most words; here this weight replaces it. It is given, not estimated
    rate: the fraction of the words of raw text that are in entities, with these weights; 0 if gates
        are not adapted to the rate of a text (`entity_rate.py`)
    """

    capital: float = 0.0
    lower: float = 0.0
    repeated: float = 0.0
    caseless: float = 0.0
    rate: float = 0.0

    @classmethod
    def estimate(
        cls, gate_scores: Scores, signals: WordSignals, *, with_spans: bool = False
    ) -> "SignalWeights":
        """Estimate the weights from the gates and signals of raw text.

        A signal with too few anchors gets the weight 0.

        gate_scores: (words,), P(open)   with_spans: whether a span model reads the words
        """
        cased = signals.possible & (signals.casing != Casing.UNINFORMATIVE)
        capital = signals.casing == Casing.CAPITAL
        case_ratios = (
            _log_ratio(gate_scores, capital, among=cased),
            _log_ratio(gate_scores, ~capital, among=cased),
        )
        if signals.repeated is None:
            return cls(*case_ratios)
        repeated = _log_ratio(gate_scores, signals.repeated, among=signals.possible)
        case_trust = CASE_TRUST_WITH_SPANS if with_spans else TRUST
        capital_ratio, lower_ratio = case_ratios
        weights = cls(case_trust * capital_ratio, case_trust * lower_ratio, TRUST * repeated)
        if not with_spans:
            return weights
        scores = weights.combine(gate_scores, signals)[signals.possible]
        return replace(weights, rate=float(scores.mean()) if len(scores) else 0.0)

    def combine(self, gate_scores: Scores, signals: WordSignals) -> Scores:
        """Return the probability that each word is part of an entity, from all signals: (words,).

        gate_scores: (words,), P(open)
        """
        odds = self.log_odds(gate_scores, signals)
        return np.where(signals.possible, 1 / (1 + np.exp(-odds)), 0.0).astype(np.float32)

    def log_odds(self, gate_scores: Scores, signals: WordSignals) -> Scores:
        """Return the log-odds of each word from all signals, also of impossible words: (words,)."""
        odds = gate_log_odds(gate_scores)
        if signals.shared is not None:
            share, mean, *_, capital, lower = signals.shared.T
            odds = (1 - share) * odds + share * mean
            elsewhere = capital * self.capital + lower * self.lower
            odds += np.where(signals.casing == Casing.UNINFORMATIVE, elsewhere, 0.0)
        odds += np.where(signals.casing == Casing.CAPITAL, self.capital, 0.0)
        odds += np.where(signals.casing == Casing.LOWER, self.lower, 0.0)
        if signals.repeated is not None:
            odds += np.where(signals.repeated, self.repeated, 0.0)
        if signals.caseless is not None:
            odds += np.where(signals.caseless, self.caseless, 0.0)
        return odds


def gate_log_odds(gate_scores: Scores) -> Scores:
    """Return the log-odds of gates: (words,).   gate_scores: (words,), P(open)"""
    clipped = np.clip(gate_scores, 1e-6, 1 - 1e-6)
    odds: Scores = np.log(clipped) - np.log1p(-clipped)
    return odds


def _log_ratio(gate_scores: Scores, value: Flags, *, among: Flags) -> float:
    """Return log P(value | entity anchor) / P(value | other anchor), with add-one counts."""
    entity = among & (gate_scores >= MIN_ENTITY_GATE)
    other = among & (gate_scores <= MAX_OTHER_GATE)
    if entity.sum() < MIN_ANCHORS or other.sum() < MIN_ANCHORS:
        return 0.0
    given_entity = (value[entity].sum() + 1) / (entity.sum() + 2)
    given_other = (value[other].sum() + 1) / (other.sum() + 2)
    return float(np.log(given_entity / given_other))
