"""Estimate signal weights, the threshold and ordinary words from the text at hand, without labels.

How much a capital says about a word depends on the language: in German every noun has one. The
weights of a model were estimated on its training text. Here they are estimated again on the text
that is being processed, where gates near 0 and 1 serve as pseudo-labels (`SignalWeights.estimate`).

- With n entity words among these pseudo-labels, the result is the mean of the estimate, with the
  weight n / (n + 200), and the model's own value, with the remaining weight.
- The log ratios of case and repetition are multiplied by a third (case with a span model by a
  fifth), because gates, case and repetition share most of their information. If repetition is less
  informative than in the training text, case shares less with it and gets a larger factor, up to
  three times as large. The factor of case also grows with the unfamiliarity of the language.
- The gates of a repeated word are averaged over its occurrences; the less of the language the model
  knows, the more this mean counts (`shared_gates.py`).
- In an unfamiliar language, a capital says nothing about a word that is often written without one.
- Where case says nothing, as in lower-cased text or at the start of a sentence, a word gets the
  mean weight of its case elsewhere in the texts, and in background text if there is some.
- Names that follow each other are separated by how often names go on after their words
  (`shared_gates.py`).
- If dates are entities, words that are often next to a year are words of dates. A model with one
  selector for names, and one for names and dates, learns whole date expressions from the
  difference of both (`date_learning.py`).
- If more than a tenth of the words are repeated and not in the model's list of ordinary words, the
  model does not know the language. The ordinary words of the text are then added to the list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.date_learning import learn_date_expressions
from thresher.entities.finding.shared_gates import (
    estimate_shared_gates,
    unfamiliarity,
    with_cases,
    with_continuations,
)
from thresher.entities.finding.signal_weights import (
    CASE_TRUST_WITH_SPANS,
    MIN_ENTITY_GATE,
    TRUST,
    Scores,
    SignalWeights,
)
from thresher.entities.finding.signals import SharedGates, SignalExtractor
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import Links, WordDecoder
from thresher.entities.priors.dates import date_words
from thresher.entities.priors.word_statistics import WordStatistics

if TYPE_CHECKING:
    from thresher.entities.model import FinderModel

MIN_WORDS = 2_000  # with fewer, nothing is estimated
MAX_WORDS = 50_000  # the first words of a corpus, from which the values are estimated
MAX_CASE_WORDS = 1_000_000  # of background text, whose words are not all encoded
_PRIOR_ANCHORS = 200  # pseudo-labelled entity words that the model's own values are worth
_MAX_REPEATED = 0.1  # fraction of repeated words in a text whose ordinary words are known
_SIGNALS = 3  # gates, case and repetition


@dataclass(frozen=True)
class Adaptation:
    """The values that were estimated for one corpus.

    ordinary: words that are not rare in general, besides those that the model knows
    words: the number of words from which this was estimated
    dates: words that are often next to a year, if dates are entities
    shared_gates: of repeated words
    date_expressions: the words of dates, for a model with a selector for names and one for both
    """

    signal_weights: SignalWeights
    threshold: float
    ordinary: frozenset[str]
    words: int
    dates: frozenset[str] = frozenset()
    shared_gates: Mapping[str, SharedGates] = field(default_factory=dict)
    date_expressions: DateExpressions | None = None


def estimate_adaptation(
    model: "FinderModel",
    gate_scores: Scores,
    texts: Sequence[SplitText],
    *,
    case_texts: Sequence[SplitText] | None = None,
    common_words: Set[str] = frozenset(),
    links: Links | None = None,
    date_gates: Scores | None = None,
) -> Adaptation:
    """Estimate signal weights, the threshold and ordinary words for texts.

    gate_scores: (words,), P(open) of the words of all texts
    case_texts: all texts that show which words are written with a capital; by default `texts`
    common_words: words that are common for the encoder
    links: (words,), of the link gate, if there is one
    date_gates: (words,), of the selector for names and dates, if that of `model` finds names alone
    """
    sentences = list(chain.from_iterable(texts))
    unfamiliar = unfamiliarity(sentences, model.ordinary) if model.ordinary else 0.0
    extractor, dates = _extractor_with_dates(model, sentences, gate_scores, date_gates)
    if unfamiliar:
        shared = estimate_shared_gates(sentences, gate_scores, unfamiliar)
        case_texts = texts if case_texts is None else case_texts
        casing = extractor.extract_texts(case_texts).casing
        shared = with_cases(shared, list(chain.from_iterable(case_texts)), casing, unfamiliar)
        extractor = replace(extractor, shared_gates=shared)
    ordinary = _ordinary_words(extractor, texts, sentences, common_words)
    if ordinary:
        extractor = replace(extractor, ordinary=(extractor.ordinary or frozenset()) | ordinary)
    signals = extractor.extract_texts(texts)
    averaged = SignalWeights().combine(gate_scores, signals)  # gates alone, over occurrences
    anchors = int((signals.possible & (averaged >= MIN_ENTITY_GATE)).sum())
    with_spans = model.span_model is not None
    weights = shrunk_weights(
        SignalWeights.estimate(averaged, signals, with_spans=with_spans),
        model.signal_weights,
        part=anchors / (anchors + _PRIOR_ANCHORS),
        unfamiliar=unfamiliar if with_spans else 0.0,
    )
    if extractor.shared_gates and with_spans:
        scores = weights.combine(gate_scores, signals)
        shared = with_continuations(extractor.shared_gates, sentences, scores, unfamiliar)
        extractor = replace(extractor, shared_gates=shared)
        signals = extractor.extract_texts(texts)
    decoder = WordDecoder(weights, model.not_names, model.span_model, model.min_word_score)
    candidates = decoder.candidates(sentences, gate_scores, signals, links)
    return Adaptation(
        signal_weights=weights,
        threshold=decoder.best_threshold([each.score for found in candidates for each in found]),
        ordinary=ordinary,
        words=len(gate_scores),
        dates=dates,
        shared_gates=extractor.shared_gates or {},
        date_expressions=extractor.date_expressions,
    )


def _extractor_with_dates(
    model: "FinderModel", sentences: SplitText, name_gates: Scores, date_gates: Scores | None
) -> tuple[SignalExtractor, frozenset[str]]:
    """Return the model's extractor with the dates of a text, and the words next to years."""
    if date_gates is not None:
        expressions = learn_date_expressions(sentences, name_gates, date_gates)
        return replace(model.signal_extractor, date_expressions=expressions), frozenset()
    if model.dates is None:
        return model.signal_extractor, frozenset()
    dates = date_words(sentences)
    return replace(model.signal_extractor, dates=model.dates | dates), dates


def _ordinary_words(
    extractor: SignalExtractor,
    texts: Sequence[SplitText],
    sentences: SplitText,
    common_words: Set[str],
) -> frozenset[str]:
    """Return the ordinary words of texts in a language whose words the model does not know."""
    repeated = extractor.extract_texts(texts).repeated
    if repeated is None or repeated.mean() <= _MAX_REPEATED:
        return frozenset()
    statistics = WordStatistics.from_sentences(sentences, common_words=common_words)
    return statistics.ordinary_words() - (extractor.ordinary or frozenset())


def shrunk_weights(
    estimated: SignalWeights, own: SignalWeights, *, part: float, unfamiliar: float = 0.0
) -> SignalWeights:
    """Return part · estimated + (1 − part) · own, with more weight on case without repetition.

    With part = 1, the weights of case are multiplied by f = 3 − 2 r, where r is the ratio of the
    estimated weight of repetition to the model's own, between 0 and 1. With a span model, whose
    factor of case is a fifth, they also grow with the unfamiliarity, up to a factor of a third:
    in an unfamiliar language gates say less.

    unfamiliar: the `unfamiliarity` of the text if there is a span model, else 0
    """
    ratio = 1.0
    if own.repeated > 0:
        ratio = min(max(estimated.repeated / own.repeated, 0.0), 1.0)
    factor = 1 + part * (_SIGNALS - 1) * (1 - ratio)
    factor *= 1 + part * unfamiliar * (TRUST / CASE_TRUST_WITH_SPANS - 1)

    def mixed(name: str) -> float:
        return part * float(getattr(estimated, name)) + (1 - part) * float(getattr(own, name))

    return replace(
        own,
        capital=factor * mixed("capital"),
        lower=factor * mixed("lower"),
        repeated=mixed("repeated"),
    )


def first_words(texts: Iterable[SplitText], count: int = MAX_WORDS) -> Iterator[SplitText]:
    """Yield texts until they have `count` words; the last one is cut after a sentence."""
    words = 0
    for sentences in texts:
        kept = []
        for sentence in sentences:
            kept.append(sentence)
            words += len(sentence)
            if words >= count:
                break
        yield kept
        if words >= count:
            return
