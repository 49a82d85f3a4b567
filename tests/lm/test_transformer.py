"""The Transformer: attention, positions, initial weights."""

import math

import pytest
import torch
from tests.lm.random_model import VOCABULARY, random_ids, random_model, with_other_token
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.shape import Shape
from thresher.lm.transformer import Transformer
from thresher.lm.transformer_layers import rotary_angles, rotate

KINDS = [
    {"positions": positions, "mlp": mlp}
    for positions in ("rotary", "learned")
    for mlp in ("gelu", "swiglu")
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("position", [0, 5, 11])
def test_a_causal_model_does_not_depend_on_later_tokens(kind, position):
    model, batch = random_model(**kind), random_ids()
    before, after = model(batch), model(with_other_token(batch, position))
    torch.testing.assert_close(before[:, :position], after[:, :position], rtol=0, atol=0)
    assert ((before - after)[:, position:].abs().amax(-1) > 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("position", [0, 5, 11])
def test_a_masked_model_depends_on_both_sides(kind, position):
    model, batch = random_model(causal=False, **kind), random_ids()
    moved = (model(batch) - model(with_other_token(batch, position))).abs().amax(-1)
    assert (moved > 1e-9).all()


@pytest.mark.parametrize("layers", [1, 8])
def test_weights_that_add_to_the_residual_stream_start_smaller_with_more_layers(layers):
    transformer = Transformer(Shape(width=128, layers=layers, heads=2))
    for layer in transformer.layers:
        for reads in (layer.attention.qkv, layer.mlp.up):
            assert reads.weight.std().item() == pytest.approx(0.02, rel=0.05)
        for adds in (layer.attention.output, layer.mlp.down):
            expected = 0.02 / math.sqrt(2 * layers)
            assert adds.weight.std().item() == pytest.approx(expected, rel=0.05)


def test_dropout_applies_to_inputs_and_attention_in_training_only(monkeypatch):
    attention, shares = functional.scaled_dot_product_attention, []

    def watched(*inputs, dropout_p, **options):
        shares.append(dropout_p)
        return attention(*inputs, dropout_p=dropout_p, **options)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", watched)
    transformer, ones = Transformer(Shape(width=64, layers=2, dropout=0.25)), torch.ones(9, 128, 64)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first = transformer.hidden_states(ones)[0]
    assert (first == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert first.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert torch.equal(transformer.eval().hidden_states(ones)[0], ones)
    assert shares == [0.25, 0.25, 0.0, 0.0]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(causal, kind):
    model, batch = random_model(causal=causal, **kind), random_ids(length=12)
    mask = torch.arange(12).expand(2, 12) < 7
    torch.testing.assert_close(model(batch, mask=mask)[:, :7], model(batch[:, :7]))


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (3, 12), (2, 7)])
def test_hidden_states_have_a_vector_for_each_id(batch, length):
    model = random_model()
    hidden = model(random_ids(batch, length))
    assert hidden.shape == (batch, length, 24)
    assert model.output.all_log_probs(hidden).shape == (batch, length, VOCABULARY)
    assert len(model.transformer.hidden_states(model.embed(random_ids(batch, length)))) == 3


def test_an_input_longer_than_the_context_is_an_error():
    with pytest.raises(ValueError, match="has 13 tokens, but the context is 12"):
        random_model()(random_ids(length=13))


def test_products_of_rotated_vectors_depend_on_the_distance_only():
    draw = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 8, generator=draw, dtype=torch.float64)
    cosines, sines = (each.double() for each in rotary_angles(10, 8))
    queries, keys = (rotate(x.expand(10, 8), cosines, sines) for x in (query, key))
    products = queries @ keys.T
    for distance in range(-9, 10):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-6)
    torch.testing.assert_close(queries.norm(dim=-1), query.norm().expand(10))


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_the_order_of_tokens_matters(positions):
    model = random_model(causal=False, positions=positions)
    hidden = model(random_ids())
    assert (hidden.flip(1) - model(random_ids().flip(1))).abs().max() > 1e-3


def test_dropout_applies_in_training_only():
    model, batch = random_model(dropout=0.5), random_ids()
    torch.testing.assert_close(model.eval()(batch), model(batch), rtol=0, atol=0)
    model.train()
    assert (model(batch) - model(batch)).abs().max() > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 10, "heads": 4}, "must be a multiple of `heads`, got 10 and 4"),
        ({"width": 9, "heads": 3}, "even width .* got 3"),
        ({"positions": "sine"}, "choose from rotary, learned"),
        ({"mlp": "relu"}, "choose from gelu, swiglu"),
        ({"dropout": 1.0}, "`dropout` must be at least 0 and below 1, got 1.0"),
        ({"context": 1}, "`context` must be at least 2, got 1"),
        ({"layers": 0}, "`layers` must be at least 1, got 0"),
    ],
)
def test_an_invalid_shape_is_an_error(options, message):
    with pytest.raises(InputError, match=message):
        Shape(**options)


def test_the_transformer_accepts_any_vectors():
    hidden = Transformer(Shape(width=8, heads=2, layers=1, context=4))(torch.randn(1, 4, 8))
    torch.testing.assert_close(hidden.square().mean(-1), torch.ones(1, 4), rtol=0, atol=1e-3)
