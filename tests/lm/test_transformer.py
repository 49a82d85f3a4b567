"""The transformer: what may look at what, where it starts, and what is saved."""

import math

import pytest
import torch
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.model import Architecture, LanguageModel, seeded_model
from thresher.lm.transformer import Shape, Transformer, rotations, turned

VOCABULARY = 23
KINDS = [
    {"positions": positions, "mlp": mlp}
    for positions in ("rotary", "learned")
    for mlp in ("gelu", "swiglu")
]


def small(*, causal=True, tied=True, output="full", **options) -> LanguageModel:
    shape = Shape(width=24, layers=2, heads=3, context=12, causal=causal, **options)
    return seeded_model(Architecture(VOCABULARY, shape, output, tied), seed=1).double()


def ids(batch=2, length=12, *, seed=0):
    return torch.randint(VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(seed))


def changed(batch, place):
    other = batch.clone()
    other[:, place] = (other[:, place] + 1) % VOCABULARY
    return other


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 5, 11])
def test_a_causal_model_sees_nothing_of_what_comes_later(kind, place):
    model, batch = small(**kind), ids()
    before, after = model(batch), model(changed(batch, place))
    torch.testing.assert_close(before[:, :place], after[:, :place], rtol=0, atol=0)
    assert ((before - after)[:, place:].abs().amax(-1) > 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 5, 11])
def test_a_masked_model_sees_both_sides(kind, place):
    model, batch = small(causal=False, **kind), ids()
    moved = (model(batch) - model(changed(batch, place))).abs().amax(-1)
    assert (moved > 1e-9).all()


@pytest.mark.parametrize("layers", [1, 8])
def test_what_adds_to_the_stream_starts_smaller_the_more_layers_add(layers):
    transformer = Transformer(Shape(width=128, layers=layers, heads=2))
    for layer in transformer.layers:
        for reads in (layer.attention.read, layer.mlp.up):
            assert reads.weight.std().item() == pytest.approx(0.02, rel=0.05)
        for adds in (layer.attention.write, layer.mlp.down):
            expected = 0.02 / math.sqrt(2 * layers)
            assert adds.weight.std().item() == pytest.approx(expected, rel=0.05)


def test_dropout_is_for_inputs_and_attention_and_for_training_alone(monkeypatch):
    attention, shares = functional.scaled_dot_product_attention, []

    def watched(*inputs, dropout_p, **options):
        shares.append(dropout_p)
        return attention(*inputs, dropout_p=dropout_p, **options)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", watched)
    transformer, ones = Transformer(Shape(width=64, layers=2, dropout=0.25)), torch.ones(9, 128, 64)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first = transformer.each_layer(ones)[0]
    assert (first == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert first.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert torch.equal(transformer.eval().each_layer(ones)[0], ones)
    assert shares == [0.25, 0.25, 0.0, 0.0]


def test_what_lies_behind_a_mask_cannot_be_seen():
    model, batch = small(causal=False), ids()
    hidden, other = batch.clone(), changed(batch, 4)
    hidden[:, 4] = other[:, 4] = model.mask_id
    torch.testing.assert_close(model(hidden), model(other), rtol=0, atol=0)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(causal, kind):
    model, batch = small(causal=causal, **kind), ids(length=12)
    mask = torch.arange(12).expand(2, 12) < 7
    torch.testing.assert_close(model(batch, mask=mask)[:, :7], model(batch[:, :7]))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_a_new_model_knows_nothing(tied, causal):
    shape = Shape(width=128, layers=3, heads=4, context=64, causal=causal)
    model = seeded_model(Architecture(500, shape, tied=tied), seed=0)
    batch = torch.randint(500, (8, 64), generator=torch.Generator().manual_seed(0))
    target = torch.randint(500, (8, 64), generator=torch.Generator().manual_seed(1))
    assert model.output.loss(model(batch), target).item() == pytest.approx(math.log(500), abs=0.1)


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (3, 12), (2, 7)])
def test_hidden_states_have_the_shape_of_the_ids_and_a_width(batch, length):
    model = small()
    hidden = model(ids(batch, length))
    assert hidden.shape == (batch, length, 24)
    assert model.output.all_log_probs(hidden).shape == (batch, length, VOCABULARY)
    assert len(model.transformer.each_layer(model.embed(ids(batch, length)))) == 3


def test_more_tokens_than_the_context_do_not_fit():
    with pytest.raises(ValueError, match="at most 12 tokens fit, got 13"):
        small()(ids(length=13))


def test_rotated_products_depend_on_the_distance_alone():
    draw = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 8, generator=draw, dtype=torch.float64)
    cosines, sines = (each.double() for each in rotations(10, 8))
    queries, keys = (turned(x.expand(10, 8), cosines, sines) for x in (query, key))
    products = queries @ keys.T
    for distance in range(-9, 10):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-6)
    torch.testing.assert_close(queries.norm(dim=-1), query.norm().expand(10))


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_the_order_of_tokens_matters(positions):
    model = small(causal=False, positions=positions)
    hidden = model(ids())
    assert (hidden.flip(1) - model(ids().flip(1))).abs().max() > 1e-3


@pytest.mark.parametrize("tied", [True, False])
def test_weights_make_the_same_model_again(tied):
    model = small(tied=tied)
    weights = model.weights()
    assert ("output.weight" in weights) is not tied
    again = seeded_model(model.architecture, seed=2).double()
    again.load_weights(weights)
    batch = ids()
    left, right = (m.output.all_log_probs(m(batch)) for m in (model, again))
    torch.testing.assert_close(left, right, rtol=0, atol=0)
    assert (again.output.weight is again.embedding) is tied


def test_a_tied_embedding_stays_tied_through_training():
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.output.loss(model(ids()), ids(seed=1)).backward()
    optimizer.step()
    assert model.output.weight is model.embedding
    assert sum(p is model.embedding for p in model.parameters()) == 1


def test_the_same_seed_makes_the_same_model_and_leaves_torch_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, two = small(), small()
    assert torch.rand(1) == expected
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0)


def test_dropout_is_for_training_alone():
    model, batch = small(dropout=0.5), ids()
    torch.testing.assert_close(model.eval()(batch), model(batch), rtol=0, atol=0)
    model.train()
    assert (model(batch) - model(batch)).abs().max() > 0.1


@pytest.mark.parametrize("output", ["classes", "tree", "adaptive", "noise-contrastive"])
def test_other_output_layers_take_the_same_hidden_states(output):
    model = small(output=output, tied=False)
    log_p = model.output.all_log_probs(model(ids()))
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(2, 12, dtype=torch.float64))
    with pytest.raises(InputError, match=f"{output!r} has no margin"):
        model.set_margin(2.0)
    with pytest.raises(InputError, match="cannot be tied; choose untied"):
        Architecture(VOCABULARY, output=output)


@pytest.mark.parametrize("tied", [True, False])
def test_an_output_layer_that_is_not_there_lists_the_choices(tied):
    with pytest.raises(InputError, match="unknown output layer 'tre'; choose from adaptive, "):
        Architecture(VOCABULARY, output="tre", tied=tied)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"width": 10, "heads": 4}, "4 heads cannot share a width of 10"),
        ({"width": 9, "heads": 3}, "even width, got 3"),
        ({"positions": "sine"}, "choose from rotary, learned"),
        ({"mlp": "relu"}, "choose from gelu, swiglu"),
        ({"dropout": 1.0}, r"\[0, 1\), got 1.0"),
        ({"context": 1}, "context at least 2"),
        ({"layers": 0}, "at least 1"),
    ],
)
def test_a_shape_that_cannot_be_is_an_error(options, told):
    with pytest.raises(InputError, match=told):
        Shape(**options)


def test_the_transformer_alone_runs_on_any_vectors():
    hidden = Transformer(Shape(width=8, heads=2, layers=1, context=4))(torch.randn(1, 4, 8))
    torch.testing.assert_close(hidden.square().mean(-1), torch.ones(1, 4), rtol=0, atol=1e-3)
