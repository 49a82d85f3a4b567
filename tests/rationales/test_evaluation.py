"""Faithfulness computed by hand, and attributions checked by their sums."""

import pytest
import torch

from thresher.rationales.attribution import gradient_scores, random_scores, top_words
from thresher.rationales.choices import ReferenceSelection
from thresher.rationales.classifier import Classifier, GatedEncoder
from thresher.rationales.evaluation import compare_selections, selected_word_counts
from thresher.rationales.faithfulness import faithfulness
from thresher.rationales.inference import probabilities

TEXTS = [["the", "soup", "was", "lovely"], ["awful"], ["a", "rude", "waiter"]]


def masks(*rows):
    return [torch.tensor(row, dtype=torch.bool) for row in rows]


def test_faithfulness_by_hand():
    whole = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    rationale = torch.tensor([[0.6, 0.4], [0.3, 0.7], [0.4, 0.6]])
    rest = torch.tensor([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]])
    labels = torch.tensor([0, 1, 1])
    found = faithfulness(whole, rationale, rest, labels, masks([1, 0, 0, 1], [1], [0, 0, 0]))
    assert found.texts == 3
    assert found.selected == pytest.approx(3 / 8)
    assert found.empty == pytest.approx(1 / 3)
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.accuracy_from_rationale == pytest.approx(3 / 3)
    assert found.accuracy_without == pytest.approx(1 / 3)
    assert found.kept == pytest.approx(2 / 3)
    assert found.sufficiency == pytest.approx((0.3 + 0.1 + 0.3) / 3)
    assert found.comprehensiveness == pytest.approx((0.7 + 0.2 - 0.2) / 3)


def test_selected_words_are_counted_over_all_texts():
    found = selected_word_counts(masks([1, 0, 1], [0, 1]), masks([1, 1, 0], [0, 1]))
    assert (found.correct, found.predicted, found.gold) == (2, 3, 3)
    assert found.f1 == pytest.approx(2 / 3)


def test_integrated_gradients_add_up_to_the_effect_of_all_words(bag):
    """Completeness: Σ scores = log p(answer | all words) − log p(answer | none)."""
    torch.manual_seed(0)
    gated_encoder, classifier = GatedEncoder(bag), Classifier(bag.width, 3)
    answers = torch.tensor([2, 0, 1])
    scores = gradient_scores(gated_encoder, classifier, TEXTS, answers, points=200)
    whole = probabilities(gated_encoder, classifier, TEXTS)
    nothing = probabilities(gated_encoder, classifier, TEXTS, [torch.zeros(len(w)) for w in TEXTS])
    gain = (whole / nothing).log()[torch.arange(3), answers]
    assert [float(row.sum()) for row in scores] == pytest.approx(gain.tolist(), abs=1e-3)


def test_the_gradient_is_that_of_closing_a_gate_a_little(bag):
    torch.manual_seed(0)
    gated_encoder, classifier = GatedEncoder(bag), Classifier(bag.width, 3)
    answers = torch.tensor([2, 0, 1])
    scores = gradient_scores(gated_encoder, classifier, TEXTS, answers)
    step = 1e-2
    for text, answer, row in zip(TEXTS, answers, scores, strict=True):
        for word in range(len(text)):
            nudged = torch.eye(len(text))[word] * step
            near, far = (
                probabilities(gated_encoder, classifier, [text], [1 + sign * nudged])[
                    0, answer
                ].log()
                for sign in (1, -1)
            )
            assert float(row[word]) == pytest.approx(float(near - far) / (2 * step), abs=2e-3)


def test_top_words_takes_the_given_number_of_words_in_every_text():
    scores = [torch.tensor([0.1, 0.9, 0.5]), torch.tensor([0.3]), torch.tensor([0.2, 0.4])]
    chosen = top_words(scores, [2, 0, 1])
    assert [each.tolist() for each in chosen] == [[False, True, True], [False], [False, True]]


def test_random_words_follow_from_their_generator():
    first, second = (random_scores(TEXTS, generator=torch.Generator().manual_seed(4)) for _ in "12")
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert [len(row) for row in first] == [len(words) for words in TEXTS]


def test_reference_selections_have_as_many_words_and_share_the_whole_text_s_figures(bag, unseen):
    torch.manual_seed(0)
    gated_encoder, classifier = GatedEncoder(bag), Classifier(bag.width, 2)
    found = compare_selections(gated_encoder, classifier, unseen.texts, unseen.labels, unseen.gold)
    assert list(found) == ["rationale", *ReferenceSelection]
    for each in found.values():
        assert each.selected == pytest.approx(found["rationale"].selected)
        assert each.accuracy == found["rationale"].accuracy
        assert each.empty == 0
