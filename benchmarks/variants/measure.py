"""Figures of one row of the variant benchmark: word and span scores, a curve, an example."""

from collections.abc import Sequence

import numpy as np

from benchmarks.data import Gold
from benchmarks.variants.vectors import Encoded
from thresher.entities.evaluation import span_counts, word_average_precision, word_counts
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import TextFinder
from thresher.gates.batching import sentence_starts
from thresher.gates.selector import Selector, open_probabilities

EXAMPLE = "In 1911 Marie Curie went back to Stockholm for the Nobel Prize in Chemistry .".split()
RECALLS = np.linspace(0.02, 1, 50)

Figures = dict[str, object]


def figures(scored: Sequence[ScoredSentence], data: Gold, threshold: float) -> Figures:
    """Return word AP, word and span F1, and word precision over recall."""
    scores = [each.scores for each in scored]
    spans = span_counts(data.spans, [each.candidates for each in scored], threshold=threshold)
    words = word_counts(data.spans, scores, threshold=0.5)
    return {
        "word_ap": round(word_average_precision(data.spans, scores), 5),
        "word_f1": round(words.f1, 5),
        "span_f1": round(spans.f1, 5),
        "span_precision": round(spans.precision, 5),
        "span_recall": round(spans.recall, 5),
        "precision_at_recalls": precision_at_recalls(data, scores),
    }


def precision_at_recalls(data: Gold, scores: Sequence[np.ndarray]) -> list[float]:
    """Return the best word precision at each of RECALLS or a higher recall."""
    labels = np.concatenate(
        [_labels(spans, len(row)) for spans, row in zip(data.spans, scores, strict=True)]
    )
    order = np.argsort(-np.concatenate(list(scores)), kind="stable")
    correct = np.cumsum(labels[order])
    precision = correct / np.arange(1, len(order) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    indices = np.searchsorted(correct / correct[-1], RECALLS - 1e-9)
    return [round(float(best[index]), 4) for index in indices]


def finder_figures(finder: EntityFinder, data: Gold, vectors: Encoded) -> dict[str, Figures]:
    """Return the figures by case; the vectors are the same because the encoder folds case."""
    gates = _word_gates(finder, finder.model.selector, vectors)
    return {
        case: figures(finder.score_gates(each.sentences, gates), each, finder.threshold)
        for case, each in data.cases().items()
    }


def baseline_figures(baseline: TextFinder, data: Gold) -> dict[str, Figures]:
    return {
        case: figures(baseline.score_sentences(each.sentences), each, baseline.threshold)
        for case, each in data.cases().items()
    }


def selector_aps(finder: EntityFinder, data: Gold, vectors: Encoded) -> list[float]:
    """Return the word AP of each selector's gates, to check the choice made without labels."""
    aps = []
    for each in finder.model.selectors:
        selector = each.selector.to(finder.encoder.device)
        gates = _word_gates(finder, selector, vectors)
        rows = np.split(gates, sentence_starts(data.sentences)[1:-1])
        aps.append(round(word_average_precision(data.spans, rows), 5))
    return aps


def example_gates(finder: EntityFinder) -> dict[str, object]:
    """Return P(open) of the words of an example sentence for each selector."""
    rows = []
    for number in range(1, len(finder.model.selectors) + 1):
        row = finder.with_selector(number).gate_scores([EXAMPLE])
        rows.append([round(float(each), 4) for each in row])
    return {"words": EXAMPLE, "gates": rows}


def _labels(spans: Sequence[tuple[int, int]], words: int) -> np.ndarray:
    labels = np.zeros(words, dtype=bool)
    for start, end in spans:
        labels[start:end] = True
    return labels


def _word_gates(finder: EntityFinder, selector: Selector, vectors: Encoded) -> np.ndarray:
    """Return P(open) of every word: (words,)."""
    opened = open_probabilities(selector, vectors.vectors, finder.encoder.device)
    return vectors.units.max_per_word(opened.numpy())
