"""Encoding texts with gates: closed words are removed, gradients reach every gate."""

import pytest
import torch

from thresher.rationales.classifier import Classifier, GatedEncoder, seeded_classifier
from thresher.rationales.inference import probabilities, text_vectors

TEXTS = [["the", "soup", "was", "lovely"], ["awful"], ["a", "rude", "waiter"]]
WORDS = 8
EVERY_PLACE = pytest.mark.parametrize("gates_at", ["input", "pool"])


@EVERY_PLACE
def test_open_gates_do_not_change_the_vectors(bag, gates_at):
    gated_encoder = GatedEncoder(bag, gates_at)
    batch = gated_encoder.encoder.batch(TEXTS)
    torch.testing.assert_close(
        gated_encoder.vectors(batch),
        gated_encoder.vectors(batch, torch.ones(WORDS)),
        rtol=0,
        atol=1e-6,
    )


def test_a_word_with_a_closed_input_gate_has_no_influence(bag):
    gated_encoder = GatedEncoder(bag, "input")
    z = torch.tensor([1.0, 0, 1, 0, 1, 1, 0, 1])
    other = [["the", "fish", "was", "dreadful"], ["awful"], ["a", "kind", "waiter"]]
    assert torch.equal(
        gated_encoder.vectors(gated_encoder.encoder.batch(TEXTS), z),
        gated_encoder.vectors(gated_encoder.encoder.batch(other), z),
    )


def test_pooled_vectors_are_the_mean_of_the_open_words(bag):
    gated_encoder = GatedEncoder(bag, "pool")
    batch = gated_encoder.encoder.batch(TEXTS)
    hidden = bag.encode_gated(batch)
    z = torch.tensor([1.0, 0, 0, 1, 1, 0, 1, 0])
    expected = torch.stack([(hidden[0, 1] + hidden[0, 4]) / 2, hidden[1, 1], hidden[2, 2]])
    torch.testing.assert_close(gated_encoder.vectors(batch, z), expected)


@EVERY_PLACE
def test_a_text_with_no_open_word_has_a_finite_vector_and_gradient(bag, gates_at):
    gated_encoder = GatedEncoder(bag, gates_at)
    z = torch.zeros(WORDS, requires_grad=True)
    vectors = gated_encoder.vectors(gated_encoder.encoder.batch(TEXTS), z)
    (gradient,) = torch.autograd.grad(vectors.sum(), z)
    assert vectors.isfinite().all()
    assert float(gradient.abs().max()) < 100


@EVERY_PLACE
def test_gradients_in_the_gates_are_those_of_finite_differences(exact_bag, gates_at):
    gated_encoder = GatedEncoder(exact_bag, gates_at)
    batch = gated_encoder.encoder.batch(TEXTS)
    classifier = Classifier(exact_bag.width, 3, hidden=5).double()
    z = torch.linspace(0.3, 0.9, WORDS, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: classifier(gated_encoder.vectors(batch, z)), (z,))


@EVERY_PLACE
def test_vectors_of_many_texts_equal_those_of_single_texts(bag, learned, gates_at):
    gated_encoder = GatedEncoder(bag, gates_at)
    texts = learned.texts[:40]
    kept = [(torch.arange(len(words)) % 2).float() for words in texts]
    together = text_vectors(gated_encoder, texts, kept)
    for i in (0, 7, 39):
        alone = gated_encoder.vectors(gated_encoder.encoder.batch([texts[i]]), kept[i])[0]
        torch.testing.assert_close(together[i], alone, rtol=1e-5, atol=1e-6)


def test_probabilities_are_the_softmax_of_the_logits(bag):
    gated_encoder, classifier = GatedEncoder(bag), Classifier(bag.width, 4)
    found = probabilities(gated_encoder, classifier, TEXTS)
    expected = torch.softmax(
        classifier(gated_encoder.vectors(gated_encoder.encoder.batch(TEXTS))), -1
    ).detach()
    torch.testing.assert_close(found, expected)
    assert found.sum(-1).tolist() == pytest.approx([1.0] * 3)


def test_progress_counts_every_text_once(bag):
    counted = []
    text_vectors(GatedEncoder(bag), TEXTS, progress=counted.append)
    assert sum(counted) == len(TEXTS)


def test_a_classifier_depends_only_on_its_seed():
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = seeded_classifier(3, 4, 2, hidden=5)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(2)
    second, other = seeded_classifier(3, 4, 2, hidden=5), seeded_classifier(4, 4, 2, hidden=5)
    assert torch.equal(first.inner.weight, second.inner.weight)
    assert not torch.equal(first.inner.weight, other.inner.weight)


def test_an_unknown_gate_position_is_refused_with_the_choices(bag):
    with pytest.raises(ValueError, match="unknown `gates_at` 'output'; choose from input, pool"):
        GatedEncoder(bag, "output")
