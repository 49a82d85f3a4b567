"""Estimate signal weights, the threshold and ordinary words from the text at hand, without labels.

How much a capital says about a word depends on the language: in German every noun has one. The
weights of a model were estimated on its training text. Here they are estimated again on the text
that is being processed, where gates near 0 and 1 serve as pseudo-labels (`SignalWeights.estimate`).

- With n entity words among these pseudo-labels, an estimate counts with the weight n / (n + 200),
  and the model's own value with the rest.
- Gates, case and repetition count a third each, because they share most of their information. Where
  repetition says less than in the training text, this is no longer true of it, and case counts for
  more: up to three times as much where repetition says nothing.
- If more than a tenth of the words are repeated words that the model does not know as ordinary, it
  does not know the language. Then the ordinary words of the text itself are added.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from thresher.entities.finding.signal_weights import MIN_ENTITY_GATE, Scores, SignalWeights
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.priors.word_statistics import WordStatistics

if TYPE_CHECKING:
    from thresher.entities.model import FinderModel

MIN_WORDS = 2_000  # with fewer, nothing is estimated
MAX_WORDS = 50_000  # the first words of a corpus, from which the values are estimated
_PRIOR_ANCHORS = 200  # pseudo-labelled entity words that the model's own values are worth
_MAX_REPEATED = 0.1  # of the words of a text whose ordinary words are known
_SIGNALS = 3

SplitText = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Adaptation:
    """What was estimated for one corpus.

    ordinary: words that are not rare in general, besides those that the model knows
    words: the number of words from which this was estimated
    """

    signal_weights: SignalWeights
    threshold: float
    ordinary: frozenset[str]
    words: int


def estimate_adaptation(
    model: "FinderModel",
    gate_scores: Scores,
    texts: Sequence[SplitText],
    *,
    common_words: Set[str] = frozenset(),
) -> Adaptation:
    """Estimate signal weights, the threshold and ordinary words for texts.

    gate_scores: (words,), P(open) of the words of all texts
    common_words: words that are common for the encoder
    """
    sentences = list(chain.from_iterable(texts))
    extractor, signals = model.signal_extractor, model.signal_extractor.extract_texts(texts)
    known, ordinary = model.ordinary or frozenset(), frozenset[str]()
    if signals.repeated is not None and signals.repeated.mean() > _MAX_REPEATED:
        statistics = WordStatistics.from_sentences(sentences, common_words=common_words)
        ordinary = statistics.ordinary_words() - known
        signals = replace(extractor, ordinary=known | ordinary).extract_texts(texts)
    anchors = int((signals.possible & (gate_scores >= MIN_ENTITY_GATE)).sum())
    # A model that adapts by default has read other languages than those at hand; there, case says
    # more beside its gates than in the language of its training text (docs/log.md).
    with_spans = model.span_model is not None and not model.adapts
    weights = shrunk_weights(
        SignalWeights.estimate(gate_scores, signals, with_spans=with_spans),
        model.signal_weights,
        part=anchors / (anchors + _PRIOR_ANCHORS),
    )
    decoder = WordDecoder(weights, model.not_names, model.span_model, model.min_word_score)
    candidates = decoder.candidates(sentences, gate_scores, signals)
    threshold = decoder.best_threshold([each.score for found in candidates for each in found])
    return Adaptation(weights, threshold, ordinary, len(gate_scores))


def shrunk_weights(estimated: SignalWeights, own: SignalWeights, *, part: float) -> SignalWeights:
    """Return part · estimated + (1 − part) · own, with more weight on case without repetition.

    Case counts f times as much, f = 3 − 2 r, where r is the ratio of the estimated weight of
    repetition to the model's own, between 0 and 1.
    """
    ratio = 1.0
    if own.repeated > 0:
        ratio = min(max(estimated.repeated / own.repeated, 0.0), 1.0)
    factor = 1 + part * (_SIGNALS - 1) * (1 - ratio)

    def mixed(name: str) -> float:
        return part * float(getattr(estimated, name)) + (1 - part) * float(getattr(own, name))

    return replace(
        own,
        capital=factor * mixed("capital"),
        lower=factor * mixed("lower"),
        repeated=mixed("repeated"),
    )


def first_words(texts: Iterable[SplitText]) -> Iterator[SplitText]:
    """Yield texts until they have `MAX_WORDS` words; the last one is cut after a sentence."""
    words = 0
    for sentences in texts:
        kept = []
        for sentence in sentences:
            kept.append(sentence)
            words += len(sentence)
            if words >= MAX_WORDS:
                break
        yield kept
        if words >= MAX_WORDS:
            return
