"""Scored sentences depend on the whole text: on its rate of entities and on repeated mentions."""

from dataclasses import replace

import numpy as np

from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.sentence_scorer import SentenceScorer

SCORER = SentenceScorer(
    SignalExtractor(strict_headlines=True),
    WordDecoder(SignalWeights(rate=0.08), frozenset(), SpanModel()),
)


def encoded(gates):
    return EncodedWords(np.array(gates, np.float32), np.zeros((len(gates), 0), np.float32))


def test_words_of_a_text_full_of_names_score_higher_than_with_the_usual_rate():
    text = [["anna", "bela", "carl", "left"]] * 300
    gates = [0.95, 0.9, 0.3, 0.01] * 300
    unadapted = replace(SCORER, decoder=replace(SCORER.decoder, weights=SignalWeights()))
    adapted, usual = (each.score([text], encoded(gates))[0] for each in (SCORER, unadapted))
    np.testing.assert_allclose(usual.scores, gates[:4], atol=1e-6)
    assert (adapted.scores > usual.scores).all()
    # The other text of a group keeps its own rate.
    other = SCORER.score([text, [["anna", "left"]]], encoded([*gates, 0.9, 0.01]))[-1]
    np.testing.assert_allclose(other.scores, [0.9, 0.01], atol=1e-6)


def test_mentions_of_a_name_support_each_other_within_their_text():
    mentions = [["we", "met", "anna", "again"]] * 3
    gates = [0.001, 0.001, 0.97, 0.001] * 2 + [0.001, 0.001, 0.4, 0.001]
    together = [each.candidates[0].score for each in SCORER.score([mentions], encoded(gates))]
    apart = SCORER.score([[each] for each in mentions], encoded(gates))
    assert together[2] == together[0]
    assert apart[2].candidates[0].score < together[2]
