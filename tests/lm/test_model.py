"""The language model: embedding, output layer, seeds and saved weights."""

import math

import pytest
import torch
from tests.lm.random_model import VOCABULARY, random_ids, random_model, with_other_token

from thresher.errors import InputError
from thresher.lm.model import Architecture, seeded_model
from thresher.lm.shape import Shape


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_a_new_model_predicts_almost_uniformly(tied, causal):
    shape = Shape(width=128, layers=3, heads=4, context=64, causal=causal)
    model = seeded_model(Architecture(500, shape, tied=tied), seed=0)
    batch = torch.randint(500, (8, 64), generator=torch.Generator().manual_seed(0))
    target = torch.randint(500, (8, 64), generator=torch.Generator().manual_seed(1))
    assert model.output.loss(model(batch), target).item() == pytest.approx(math.log(500), abs=0.1)


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_with_loaded_weights_is_the_same(tied):
    model = random_model(tied=tied)
    weights = model.weights()
    assert ("output.weight" in weights) is not tied
    again = seeded_model(model.architecture, seed=2).double()
    again.load_weights(weights)
    batch = random_ids()
    left, right = (m.output.all_log_probs(m(batch)) for m in (model, again))
    torch.testing.assert_close(left, right, rtol=0, atol=0)
    assert (again.output.weight is again.embedding) is tied


def test_a_tied_embedding_stays_tied_through_training():
    model = random_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.output.loss(model(random_ids()), random_ids(seed=1)).backward()
    optimizer.step()
    assert model.output.weight is model.embedding
    assert sum(p is model.embedding for p in model.parameters()) == 1


def test_the_same_seed_gives_the_same_model_and_keeps_the_global_random_state():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, two = random_model(), random_model()
    assert torch.rand(1) == expected
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0)


@pytest.mark.parametrize("output", ["classes", "tree", "adaptive", "noise-contrastive"])
def test_other_output_layers_take_the_same_hidden_states(output):
    model = random_model(output=output, tied=False)
    log_p = model.output.all_log_probs(model(random_ids()))
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(2, 12, dtype=torch.float64))
    with pytest.raises(InputError, match=f"{output!r} does not support `margin`"):
        model.set_margin(2.0)
    with pytest.raises(InputError, match="choose untied weights"):
        Architecture(VOCABULARY, output=output)


@pytest.mark.parametrize("tied", [True, False])
def test_an_unknown_output_layer_is_an_error_with_the_choices(tied):
    with pytest.raises(InputError, match=r"unknown .* 'tre'; choose from adaptive, "):
        Architecture(VOCABULARY, output="tre", tied=tied)


def test_a_masked_token_has_no_influence():
    model, batch = random_model(causal=False), random_ids()
    hidden, other = batch.clone(), with_other_token(batch, 4)
    hidden[:, 4] = other[:, 4] = model.mask_id
    torch.testing.assert_close(model(hidden), model(other), rtol=0, atol=0)


def test_names_in_saved_models_stay_as_they_were():
    names = set(random_model(causal=False, tied=False, positions="learned").weights())
    layers = [
        f"transformer.layers.{layer}.{part}"
        for layer in range(2)
        for part in (
            *("attention_norm.weight", "attention.read.weight", "attention.write.weight"),
            *("mlp_norm.weight", "mlp.up.weight", "mlp.down.weight"),
        )
    ]
    rest = {"embedding", "mask", "output.weight", "transformer.norm.weight", "transformer.places"}
    assert names == rest | set(layers)
