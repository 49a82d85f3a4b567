"""Adapt gate scores to the fraction of a text's words that are in entities.

The probabilities of words depend on how frequent entities are in general. In an article about a
music festival, far more words are names than in the raw text on which a model was estimated, so
each doubtful word is a name more often than its probability says. The fraction of a text's words
that are in entities is estimated from the probabilities themselves, without labels, by the EM
algorithm for changed class frequencies (Saerens, Latinne and Decaestecker, 2002):

    fraction ← mean over words of σ(log-odds + logit(fraction) − logit(rate of the raw text))

PRIOR_WORDS words with the rate of the raw text are added to every text, so that short texts change
little. Gates were trained on several kinds of text, between which rates differ; a difference in
log-odds up to TOLERANCE is ignored, and of the rest the part TRUST is added to all gates of the
text. These three constants were chosen on tune splits (docs/label-choices.md).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signal_weights import Scores, SignalWeights, gate_log_odds
from thresher.entities.finding.signals import WordSignals

PRIOR_WORDS, TOLERANCE, TRUST = 200, 0.5, 0.75
_ITERATIONS = 25  # a fixed number, so that a text's result does not depend on other texts
_WEAK = -5.0  # log-odds below which σ(x) ≈ exp(x), which is faster to sum
_MAX_SHIFT = 4.0
_DIGITS = 2  # decimals of the estimated difference in log-odds


def gates_at_text_rates(
    gate_scores: Scores,
    weights: SignalWeights,
    signals: WordSignals,
    text_lengths: Sequence[int],
) -> Scores:
    """Return the gate scores of words, adapted to the rate of entities in each text: (words,).

    Weights without a rate leave them unchanged.

    gate_scores: (words,), P(open)   text_lengths: the number of words of each text
    """
    if not weights.rate:
        return gate_scores
    log_odds = weights.log_odds(gate_scores, signals).astype(np.float64)
    text = np.repeat(np.arange(len(text_lengths)), text_lengths)
    shift = rate_shifts(
        log_odds[signals.possible], text[signals.possible], len(text_lengths), weights.rate
    )
    added = TRUST * np.sign(shift) * np.maximum(np.abs(shift) - TOLERANCE, 0)
    changed = np.flatnonzero(added[text])
    if not len(changed):
        return gate_scores
    log_odds = gate_log_odds(gate_scores[changed]) + added[text[changed]]
    adapted = gate_scores.copy()
    adapted[changed] = 1 / (1 + np.exp(-log_odds))
    return adapted


def rate_shifts(
    log_odds: NDArray[np.float64], text: NDArray[np.int64], texts: int, rate: float
) -> NDArray[np.float64]:
    """Return logit(fraction of words in entities) − logit(rate) of each text: (texts,).

    log_odds: (words,), at `rate`   text: (words,), the index of each word's text
    """
    strong = log_odds >= _WEAK
    owner, own = text[strong], log_odds[strong]
    weak = np.bincount(text[~strong], weights=np.exp(log_odds[~strong]), minlength=texts)
    count = np.bincount(text, minlength=texts) + PRIOR_WORDS
    against = np.exp(-own)
    shift = np.zeros(texts)
    for _ in range(_ITERATIONS):
        probability = 1 / (1 + against * np.exp(-shift)[owner])
        expected = np.bincount(owner, weights=probability, minlength=texts) + weak * np.exp(shift)
        fraction = np.clip((expected + PRIOR_WORDS * rate) / count, 1e-6, 1 - 1e-6)
        shift = np.log(fraction) - np.log1p(-fraction) - np.log(rate) + np.log1p(-rate)
        shift = np.clip(shift, -_MAX_SHIFT, _MAX_SHIFT)
    return np.round(shift, _DIGITS)
