"""InfoNCE and the contrast against closed forms, direct computation and finite differences."""

import math
import weakref

import pytest
import torch

from thresher.encoders.protocol import sentence_vectors
from thresher.gates.choices import GatePosition
from thresher.gates.contrast import contrast, info_nce
from thresher.training_processes import Processes

SENTENCES = [["Marie", "left", "Paris"], ["it", "rained"], ["Ann", "met", "Bob", "again"]]
WORDS = 9
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
EVERY_POSITION = pytest.mark.parametrize("gates_at", GatePosition)


def noise(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


# InfoNCE


@DTYPES
@pytest.mark.parametrize("temperature", [0.07, 1.0])
def test_info_nce_is_the_mean_surprisal_of_each_anchor_s_own_pair(dtype, temperature):
    anchors, others = noise(5, 3, dtype=dtype), noise(5, 3, dtype=dtype, seed=1)
    expected = 0.0
    for i in range(5):
        scores = [
            math.exp(float(torch.cosine_similarity(anchors[i], other, dim=0)) / temperature)
            for other in others
        ]
        expected -= math.log(scores[i] / sum(scores)) / 5
    loss = info_nce(anchors, others, temperature=temperature)
    assert loss.dtype == dtype
    assert float(loss) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sentences", [2, 7])
def test_info_nce_of_orthogonal_vectors_has_its_closed_form(sentences):
    vectors = 3 * torch.eye(sentences, dtype=torch.float64)
    loss = info_nce(vectors, vectors, temperature=0.5)
    assert float(loss) == pytest.approx(math.log(1 + (sentences - 1) * math.exp(-2)))


def test_info_nce_of_equal_vectors_is_the_log_of_the_batch_size():
    assert float(info_nce(torch.ones(8, 3), torch.ones(8, 3), temperature=0.07)) == pytest.approx(
        math.log(8)
    )


def test_info_nce_of_one_sentence_is_zero():
    assert float(info_nce(noise(1, 3), noise(1, 3, seed=1), temperature=0.07)) == 0.0


def test_info_nce_has_the_gradient_of_finite_differences():
    anchors, others = noise(4, 3, dtype=torch.float64), noise(4, 3, dtype=torch.float64, seed=1)
    assert torch.autograd.gradcheck(
        lambda a, o: info_nce(a, o, temperature=0.3),
        (anchors.requires_grad_(), others.requires_grad_()),
    )


# Contrast


@EVERY_POSITION
def test_gradients_of_both_contrasts_reach_every_gate(tiny, gates_at):
    batch = tiny.batch(SENTENCES)
    z = torch.full((WORDS,), 0.6, requires_grad=True)
    for loss in contrast(tiny, batch, z, temperature=0.5, gates_at=gates_at):
        (gradient,) = torch.autograd.grad(loss, z, retain_graph=True)
        assert gradient.abs().min() > 1e-6


@EVERY_POSITION
def test_the_complement_of_gates_is_the_rationale_of_the_opposite_gates(tiny, gates_at):
    batch = tiny.batch(SENTENCES)
    z = torch.linspace(0.1, 0.9, WORDS)
    options = {"temperature": 0.5, "gates_at": gates_at}
    rationale, complement = contrast(tiny, batch, z, **options)
    of_opposite = contrast(tiny, batch, 1 - z, **options)
    torch.testing.assert_close((complement, rationale), of_opposite)
    assert float((rationale - complement).abs()) > 1e-3


def test_input_gates_replace_words_before_the_encoder_reads_them(tiny):
    batch = tiny.batch(SENTENCES)
    z = torch.tensor([1.0, 0, 1, 0, 1, 1, 0, 0, 1])
    anchors = sentence_vectors(tiny.encode_gated(batch), batch)
    expected = [
        info_nce(anchors, sentence_vectors(tiny.encode_gated(batch, g), batch), temperature=0.5)
        for g in (z, 1 - z)
    ]
    torch.testing.assert_close(list(contrast(tiny, batch, z, temperature=0.5)), expected)


def test_pooled_gates_leave_words_out_of_the_mean_though_the_encoder_has_read_them(tiny):
    batch = tiny.batch(SENTENCES)
    z = torch.tensor([1.0, 0, 1, 0, 1, 1, 0, 0, 1])
    hidden = tiny.encode_gated(batch)
    anchors, *kept = [
        torch.stack(
            [
                hidden[s][
                    [c for c in range(5) if batch.word[s, c] >= 0 and g[batch.word[s, c]]]
                ].mean(0)
                for s in range(3)
            ]
        )
        for g in (torch.ones(WORDS), z, 1 - z)
    ]
    expected = [info_nce(anchors, vectors, temperature=0.5) for vectors in kept]
    ours = contrast(tiny, batch, z, temperature=0.5, gates_at="pool")
    torch.testing.assert_close(list(ours), expected)


@EVERY_POSITION
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_sentence_all_closed_or_all_open_has_a_gradient_of_ordinary_size(tiny, gates_at, value):
    batch = tiny.batch(SENTENCES)
    z = torch.tensor([value] * 3 + [0.5] * 6, requires_grad=True)
    for loss in contrast(tiny, batch, z, temperature=0.07, gates_at=gates_at):
        (gradient,) = torch.autograd.grad(loss, z, retain_graph=True)
        assert gradient.isfinite().all()
        assert gradient.abs().max() < 100


@EVERY_POSITION
def test_the_gradients_of_both_contrasts_are_those_of_finite_differences(tiny, gates_at):
    batch = tiny.batch(SENTENCES)
    z = torch.linspace(0.2, 0.9, WORDS, requires_grad=True)
    step = 1e-2 * torch.eye(WORDS)

    def losses(gates):
        return torch.stack(contrast(tiny, batch, gates, temperature=0.5, gates_at=gates_at))

    with torch.no_grad():
        expected = torch.stack([losses(z + each) - losses(z - each) for each in step], -1) / 2e-2
    for loss, weight, slope in zip(losses(z), (0.1, -0.05), expected, strict=True):
        (gradient,) = torch.autograd.grad(weight * loss, z, retain_graph=True)
        torch.testing.assert_close(gradient, weight * slope, atol=1e-4, rtol=1e-2)


def test_the_contrast_frees_the_activations_of_the_encoder(tiny):
    class Watched:
        def __init__(self):
            self.width, self.made = tiny.width, []

        def encode_gated(self, batch, gates=None):
            hidden = tiny.encode_gated(batch, gates)
            self.made.append(weakref.ref(hidden))
            return hidden

    encoder = Watched()
    z = torch.full((WORDS,), 0.6, requires_grad=True)
    losses = contrast(encoder, tiny.batch(SENTENCES), z, temperature=0.5)
    assert [each() for each in encoder.made] == [None] * 3
    assert all(each.requires_grad for each in losses)


def test_a_process_without_sentences_has_the_losses_and_no_gradient(tiny):
    class First(Processes):
        def sum(self, own):
            assert not own.any()  # all sentences belong to other processes
            return torch.eye(*own.shape)

    z = torch.full((WORDS,), 0.6, requires_grad=True)
    losses = contrast(
        tiny, tiny.batch(SENTENCES), z, temperature=0.5, processes=First(rank=0, count=5)
    )
    assert [float(each) for each in losses] == [pytest.approx(math.log(1 + 2 * math.exp(-2)))] * 2
    assert not any(each.requires_grad for each in losses)


def test_an_unknown_gate_position_is_refused_with_the_choices(tiny):
    with pytest.raises(ValueError, match="'output'; choose from input, pool"):
        contrast(tiny, tiny.batch(SENTENCES), torch.ones(WORDS), temperature=1, gates_at="output")


def test_pooled_gates_that_are_all_open_give_each_sentence_its_anchor(tiny):
    """With a low temperature the loss of equal vectors is that of the anchors with themselves."""
    batch = tiny.batch(SENTENCES)
    hidden = tiny.encode_gated(batch)
    anchors = torch.stack([hidden[s][batch.word[s] >= 0].mean(0) for s in range(3)])
    rationale, _ = contrast(tiny, batch, torch.ones(WORDS), temperature=0.1, gates_at="pool")
    torch.testing.assert_close(rationale, info_nce(anchors, anchors, temperature=0.1))
