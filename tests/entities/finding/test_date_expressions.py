"""Dates are found as whole expressions, with words that are learned from the text at hand."""

import numpy as np
import pytest

from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.date_learning import learn_date_expressions
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.sentence_scorer import DATE_SCORE, SentenceScorer

HAUSA = DateExpressions(
    words=frozenset(["ranar", "watan", "yuni", "talata", "shekaru"]),
    alone=frozenset(["yuni", "talata"]),
    numerals=frozenset(["uku"]),
    joining=frozenset(["ga", ","]),
    numerals_follow=True,
)


def found(sentence, expressions=HAUSA):
    words = sentence.split()
    return [" ".join(words[start:end]) for start, end in expressions.find(words)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("a ranar 12 ga watan Yuni 2020 , ya", ["ranar 12 ga watan Yuni 2020"]),
        ("tun shekaru uku a Talata", ["shekaru uku", "Talata"]),
        ("uku shekaru", []),  # numerals follow
        ("a ranar da watan", []),  # units alone are no dates
        ("mutane 12 a 2015", ["2015"]),
        ("Yuni ga", ["Yuni"]),
        ("Yuni ga ga ga 12", ["Yuni"]),  # at most two joining words
        ("", []),
    ],
)
def test_dates_are_runs_of_parts_with_joining_words_between_them(sentence, expected):
    assert found(sentence) == expected


def test_words_of_dates_are_learned_from_the_difference_of_two_selectors():
    date_words = {"ranar", "watan", "yuni", "shekaru"}
    log_odds = dict.fromkeys(date_words, 0.0) | {"uku": -3.5, "talata": -4.0, "kano": 3.0}
    line = "a ranar {} ga watan Yuni a Kano , tun shekaru uku ; ranar Talata ; uku ; uku"
    sentences = [line.format(i % 28).split() for i in range(50)]
    words = [word.casefold() for sentence in sentences for word in sentence]
    of_dates = np.array([log_odds.get(word, -6.0) for word in words])
    is_date = np.array([word in date_words or word == "uku" for word in words])
    of_names = np.where(is_date, of_dates - 2, of_dates)
    gates = [(1 / (1 + np.exp(-each))).astype(np.float32) for each in (of_names, of_dates)]
    learned = learn_date_expressions(sentences, *gates)
    assert learned.words == date_words | {"talata"}  # beside "ranar"
    assert learned.numerals == {"uku"}
    assert learned.numerals_follow
    assert "ga" in learned.joining
    assert found("a ranar 12 ga watan Yuni 2020", learned) == ["ranar 12 ga watan Yuni 2020"]


def test_the_words_of_a_date_are_in_no_name():
    decoder = WordDecoder(SignalWeights(), frozenset(), SpanModel())
    sentence = ["in", "Mumbai", "Talata", "he", "left"]
    gates = np.array([0.01, 0.95, 0.95, 0.01, 0.01], np.float32)
    encoded = EncodedWords(gates, np.zeros((5, 0), np.float32))

    def bounds(expressions):
        extractor = SignalExtractor(strict_headlines=True, date_expressions=expressions)
        (scored,) = SentenceScorer(extractor, decoder).score([[sentence]], encoded)
        return scored, [(each.start, each.end) for each in scored.candidates]

    assert bounds(None)[1] == [(1, 3)]
    scored, separated = bounds(HAUSA)
    assert separated == [(1, 2), (2, 3)]
    assert scored.candidates[1].score == DATE_SCORE
    assert scored.scores[2] == np.float32(DATE_SCORE)
