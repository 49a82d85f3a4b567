"""Evaluating a finder from Python: the figures of the command, and of the metrics."""

import numpy as np
import pytest

from thresher.entities.evaluation import (
    GoldTexts,
    evaluate_finder,
    span_counts,
    word_average_precision,
)
from thresher.entities.finding.decoding import decode
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import TextFinder
from thresher.text.annotations import TaggedSentence


class CapitalFinder(TextFinder):
    """Scores capitalised words 0.9 and all others 0.05."""

    threshold = 0.5

    def _score(self, texts):
        for text in texts:
            for words in text:
                scores = np.array([0.9 if word[0].isupper() else 0.05 for word in words])
                (candidates,) = decode([words], scores)
                yield ScoredSentence(words, scores, candidates)


GOLD = GoldTexts(
    [
        [
            TaggedSentence(("Magda", "Nowak", "left"), ((0, 2),), ("PER",)),
            TaggedSentence(("in", "larvik", "Boats", "slept"), ((1, 2),), ("LOC",)),
        ],
        [TaggedSentence(("Elias", "left"), ((0, 1),), ("PER",))],
    ]
)


def test_an_evaluation_has_the_values_of_the_metrics():
    counted = []
    result = evaluate_finder(CapitalFinder(), GOLD, progress=counted.append)
    scored = [
        sentence
        for text in GOLD.texts
        for sentence in CapitalFinder()._score([[each.words for each in text]])
    ]
    spans = [sentence.spans for sentence in GOLD.sentences]
    found = [sentence.candidates for sentence in scored]
    scores = [sentence.scores for sentence in scored]
    assert result.average_precision == word_average_precision(spans, scores)
    assert result.spans == span_counts(spans, found, threshold=0.5)
    assert (result.spans.correct, result.spans.predicted, result.spans.gold) == (2, 3, 3)
    assert counted == [1, 1, 1]


def test_in_lower_case_a_finder_of_capitals_finds_nothing():
    assert evaluate_finder(CapitalFinder(), GOLD, lower_case=True).spans.predicted == 0


def test_a_threshold_replaces_that_of_the_finder():
    assert evaluate_finder(CapitalFinder(), GOLD, threshold=0.9).spans.predicted == 0


def test_figures_and_json_agree():
    result = evaluate_finder(CapitalFinder(), GOLD)
    figures, json = result.figures(), result.as_json()
    assert figures["exact span F1"] == json["span"]["f1"] == pytest.approx(2 / 3)
    assert figures["word AP"] == json["word"]["average_precision"]
    assert json["span"]["gold"] == 3
