import pytest
import torch

from thresher.gates.choices import PARAMETER_RANGES
from thresher.gates.selector import Selector, seeded_selector
from thresher.maths.gate_forms import GATE_FORMS

EVERY_FORM = pytest.mark.parametrize("form", sorted(GATE_FORMS))


def weights_of(selector):
    return torch.cat([each.detach().flatten() for each in selector.parameters()])


def test_every_gate_form_has_a_range_of_parameters():
    assert set(PARAMETER_RANGES) == set(GATE_FORMS)


def test_the_same_seed_gives_the_same_weights_and_another_gives_others():
    first, again, other = (seeded_selector(seed, 8, form="thresholded") for seed in (3, 3, 4))
    assert torch.equal(weights_of(first), weights_of(again))
    assert not torch.equal(weights_of(first), weights_of(other))


def test_a_seeded_selector_neither_reads_nor_moves_the_global_generator():
    torch.manual_seed(1)
    first = seeded_selector(3, 8, form="thresholded")
    drawn = torch.rand(4)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(4))
    torch.manual_seed(2)
    assert torch.equal(weights_of(first), weights_of(seeded_selector(3, 8, form="thresholded")))


@EVERY_FORM
def test_a_selector_gives_one_gate_of_its_form_per_word(form):
    gates = Selector(8, hidden=16, form=form)(torch.randn(5, 8))
    assert isinstance(gates, GATE_FORMS[form])
    assert gates.batch_shape == (5,)
    assert Selector(8, form=form)(torch.zeros(0, 8)).batch_shape == (0,)


@EVERY_FORM
def test_parameters_stay_in_their_range_whatever_the_weights(form):
    selector = Selector(8, hidden=16, form=form)
    low, high = PARAMETER_RANGES[form]
    vectors = torch.randn(64, 8)
    for bias in ([-1e4, 1e4], [1e4, -1e4], [0.0, 0.0]):
        with torch.no_grad():
            selector.outer.bias.copy_(torch.tensor(bias))
        gates = selector(vectors)
        for parameter in (gates.a.detach(), gates.b.detach()):
            assert (low <= parameter).all()
            assert (parameter <= high).all()
        assert gates.prob_open().isfinite().all()


@EVERY_FORM
def test_a_gate_can_open_nearly_always_and_close_nearly_always(form):
    selector = Selector(8, hidden=16, form=form)
    rates = []
    for bias in ([20.0, -20.0], [-20.0, 20.0]):
        with torch.no_grad():
            selector.outer.bias.copy_(torch.tensor(bias))
        rates.append(selector(torch.randn(1, 8)).prob_open().item())
    assert rates[0] > 0.97
    assert rates[1] < 0.03


def test_the_parameters_equal_the_formula():
    selector = Selector(8, hidden=16)
    h = torch.randn(5, 8)
    normed = (h - h.mean(1, keepdim=True)) / (h.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
    inner = torch.nn.functional.gelu(normed @ selector.inner.weight.T + selector.inner.bias)
    outer = inner @ selector.outer.weight.T + selector.outer.bias
    expected = torch.log1p(outer.exp()) + 1
    gates = selector(h)
    torch.testing.assert_close(torch.stack([gates.a, gates.b], -1), expected)


def test_a_gate_depends_on_its_own_word_alone():
    selector, vectors = Selector(8), torch.randn(6, 8)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    torch.testing.assert_close(
        selector(vectors[order]).prob_open(), selector(vectors).prob_open()[order]
    )


def test_gates_of_many_words_equal_those_of_single_words():
    selector, vectors = Selector(8), torch.randn(1300, 8)
    whole = selector(vectors)  # with gradients, in one piece
    with torch.inference_mode():
        in_pieces = selector(vectors)
    torch.testing.assert_close(in_pieces.prob_open(), whole.prob_open().detach())


def test_an_unknown_form_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'soft'; choose from continuous, stretched, thresholded"):
        Selector(8, form="soft")


@EVERY_FORM
def test_shifted_gates_are_more_open_and_the_selector_is_unchanged(form):
    selector = seeded_selector(0, 8, hidden=16, form=form)
    vectors, before = torch.randn(50, 8), weights_of(selector)
    less, own, more = (selector.shifted(shift)(vectors).prob_open() for shift in (-1.0, 0.0, 1.0))
    assert torch.equal(own, selector(vectors).prob_open())
    assert (less < own).all()
    assert (own < more).all()
    assert torch.equal(weights_of(selector), before)
