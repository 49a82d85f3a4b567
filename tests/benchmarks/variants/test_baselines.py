"""Baselines compared with their definitions, computed word by word."""

import math

import numpy as np
import pytest
import torch
from benchmarks.variants.baselines import (
    Baseline,
    _without_each_word,
    attention_scores,
    capital_scores,
    leave_one_out_scores,
    rarity_scores,
)
from torch.nn.functional import cosine_similarity

from thresher.encoders.protocol import TokenBatch, sentence_vectors
from thresher.errors import InputError

TEXT = [
    ["Then", "Marie", "Skłodowska-Curie", "left", "Paris", "."],
    ["it", "rained"],
    [],
    ["Oslo"],
]


def test_every_baseline_reads_texts_as_the_finder_does(minilm):
    text = "Marie Curie moved to Paris. It rained in Oslo."
    for score in (
        capital_scores,
        rarity_scores(TEXT),
        leave_one_out_scores(minilm),
        leave_one_out_scores(minilm, gates_at="pool"),
        attention_scores(minilm),
    ):
        baseline = Baseline(score, threshold=0.0)
        for span in baseline.find(text):
            assert text[span.start : span.end] == span.text
            assert 0 <= span.score <= 1
        assert [len(row) for row in baseline.find_words(TEXT)][2] == 0
        assert [len(each.scores) for each in baseline.score_sentences(TEXT)] == [6, 2, 0, 1]


def test_capitalised_runs_are_found_but_not_a_lone_first_word():
    baseline = Baseline(capital_scores)
    assert [span.text for span in baseline.find("Then Marie Curie left for Oslo.")] == [
        "Then Marie Curie",
        "Oslo",
    ]
    assert baseline.find("Nobody left.") == []


def test_rarity_is_the_inverse_document_frequency_over_passages():
    raw = [["the", "rain"]] * 20 + [["the", "sun"]] * 20 + [["the", "sun", "Oslo"]] * 20
    rows = rarity_scores(raw)([["The", "rain", "unseen"]])
    expected = [math.log(4 / (n + 1)) / math.log(4) for n in (3, 1, 0)]
    np.testing.assert_allclose(rows[0], expected, atol=1e-6)


def turned(whole, rest):
    return float((1 - cosine_similarity(whole, rest, dim=-1)) / 2)


def test_left_out_at_the_pool_is_the_mean_of_the_other_tokens(minilm):
    words = TEXT[0]
    batch = minilm.batch([words])
    hidden = minilm.encode_gated(batch)[0]
    whole = hidden.mean(0)
    expected = [turned(whole, hidden[batch.word[0] != w].mean(0)) for w in range(len(words))]
    scores = leave_one_out_scores(minilm, gates_at="pool")(TEXT)[0]
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_left_out_at_the_input_is_the_sentence_with_the_word_s_gate_closed(minilm):
    words = TEXT[0]
    batch = minilm.batch([words])
    whole = sentence_vectors(minilm.encode_gated(batch), batch)[0]
    expected = []
    for w in range(len(words)):
        gates = torch.ones(len(words))
        gates[w] = 0
        expected.append(
            turned(whole, sentence_vectors(minilm.encode_gated(batch, gates), batch)[0])
        )
    scores = leave_one_out_scores(minilm)(TEXT)[0]
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_each_word_is_masked_in_every_window_of_a_copy_of_its_sentence():
    batch = TokenBatch(  # sentence 0 has words 0 and 1 in two windows that share word 1
        ids=torch.tensor([[7, 8], [8, 9], [5, 6]]),
        mask=torch.ones(3, 2, dtype=torch.long),
        word=torch.tensor([[0, 1], [1, -1], [2, 3]]),
        sentence=torch.tensor([0, 0, 1]),
        sentence_of_word=torch.tensor([0, 0, 1, 1]),
        sentences=2,
    )
    copies = _without_each_word(batch)
    assert copies.sentences == 4
    assert copies.sentence.tolist() == [0, 0, 1, 1, 2, 3]
    assert copies.word.tolist() == [[0, 1], [1, -1], [1, 0], [0, -1], [0, 1], [1, 0]]
    assert copies.ids.tolist() == [[7, 8], [8, 9], [7, 8], [8, 9], [5, 6], [5, 6]]


def test_words_without_letters_are_never_selected(minilm):
    for score in (leave_one_out_scores(minilm, gates_at="pool"), attention_scores(minilm)):
        reading = Baseline(score, threshold=0.0).score_sentences(
            [["It", "rained", ",", "1903", "."]]
        )[0]
        assert reading.scores[2:].tolist() == [0, 0, 0]
        assert all(each.end <= 2 for each in reading.candidates)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_the_threshold_of_a_rate_selects_that_fraction_of_words(rate):
    raw = [[f"word{chr(97 + i)}{chr(97 + j)}" for i in range(10)] for j in range(10)]
    place = {word: k for k, word in enumerate(w for words in raw for w in words)}

    def score(document):
        return [np.array([place[w] / 100 for w in words], dtype=np.float32) for words in document]

    baseline = Baseline(score).at_rate(raw, rate)
    selected = sum(c.end - c.start for row in baseline.find_words(raw) for c in row)
    assert selected == pytest.approx(100 * rate, abs=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Baseline(capital_scores, threshold=2),
            r"`threshold` must be at least 0 and at most 1, got 2",
        ),
        (
            lambda: Baseline(capital_scores).at_rate(TEXT, 0),
            "`rate` must be above 0 and below 1, got 0",
        ),
        (lambda: Baseline(capital_scores).at_rate([], 0.1), "there are no words"),
        (lambda: rarity_scores([]), "there are no sentences"),
    ],
)
def test_wrong_values_are_refused_in_a_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_an_encoder_without_attention_is_refused_by_name(tiny):
    with pytest.raises(InputError, match="the encoder tiny gives no attention weights"):
        attention_scores(tiny)


def test_an_unknown_place_is_refused(tiny):
    with pytest.raises(InputError, match="unknown `gates_at` 'output'; choose from input, pool"):
        leave_one_out_scores(tiny, gates_at="output")
