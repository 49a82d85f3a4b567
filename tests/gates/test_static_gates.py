"""Gates computed with numpy, against the same modules in torch."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from thresher.encoders.static_encoder import StaticEncoder
from thresher.gates.choices import GateForm
from thresher.gates.features import Features
from thresher.gates.mixing_layer import gelu
from thresher.gates.selector import Selector
from thresher.gates.static_gates import StaticGates, gate_range

WORDS = ["Paris", "moved", "to", "unbelievably", "Zürich", "?", "\u200b"]


def random_sentences(count):
    generator = np.random.default_rng(3)
    lengths = [0, 1, 2, 3, 40, *generator.integers(0, 30, count).tolist()]
    return [[WORDS[i] for i in generator.integers(0, len(WORDS), length)] for length in lengths]


def as_arrays(module):
    return {name: value.detach().numpy() for name, value in module.state_dict().items()}


@pytest.mark.parametrize("form", GateForm)
@pytest.mark.parametrize(("layers", "reach"), [(1, 1), (2, 2), (3, 3)])
def test_gates_equal_those_of_torch(minilm, form, layers, reach):
    torch.manual_seed(layers)
    tokenizer = minilm.tokenizer
    vectors = torch.randn(tokenizer.get_vocab_size(), 16)
    encoder = StaticEncoder(tokenizer, vectors, layers=layers, reach=reach).eval()
    encoder.edge.data.normal_()
    selector = Selector(16, hidden=24, form=form).eval()
    selector.outer.weight.data.mul_(8)
    gates = StaticGates(encoder.subwords, as_arrays(encoder), as_arrays(selector), form=form)
    sentences = random_sentences(60)
    with torch.inference_mode():
        expected = selector(Features().encode(encoder, sentences)).prob_open().numpy()
    error = gates.gate_scores(sentences) - expected
    assert expected.std() > 0.01
    assert np.abs(error).max() < 0.2 * expected.std()  # weights are rounded to ten bits
    assert np.sqrt(np.square(error).mean()) < 0.02 * expected.std()


def test_no_words_have_no_gates(minilm):
    encoder = StaticEncoder(minilm.tokenizer, torch.randn(minilm.tokenizer.get_vocab_size(), 8))
    arrays = as_arrays(encoder), as_arrays(Selector(8, hidden=4))
    gates = StaticGates(encoder.subwords, *arrays, form=GateForm.THRESHOLDED)
    assert gates.gate_scores([]).shape == gates.gate_scores([[], []]).shape == (0,)


def test_gelu_equals_that_of_torch():
    x = torch.linspace(-12, 12, 100_001)
    expected = functional.gelu(x.double()).float().numpy()
    np.testing.assert_allclose(gelu(x.numpy()), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        *((each, {}) for each in GateForm),
        (GateForm.THRESHOLDED, {"threshold": 0.3}),
        (GateForm.CONTINUOUS, {"threshold": 0.7}),
        (GateForm.STRETCHED, {"lower": -0.5, "upper": 1.2}),
    ],
)
def test_ranges_are_those_of_the_selector(form, options):
    own = gate_range(form, options)
    selector = Selector(4, hidden=4, form=form, gate_options=options)
    assert (own.low, own.high) == (selector.low, selector.high)
    assert own.opening == pytest.approx(selector(torch.zeros(1, 4)).opening)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("thresholded", {"lower": -0.1}),
        ("stretched", {"threshold": 0.5}),
        ("stretched", {"lower": 0.1}),
        ("continuous", {"threshold": 1.0}),
    ],
)
def test_options_that_a_form_does_not_have_are_refused(form, options):
    with pytest.raises(ValueError, match="gate"):
        gate_range(form, options)
