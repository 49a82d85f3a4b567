import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from thresher.lm.losses.margin import norm_scaled_margin
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.output_layers import output_layer
from thresher.lm.output_layers.full import FullSoftmax


@pytest.fixture
def rows():
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(3, 4, 6, generator=generator, dtype=torch.float64)
    return hidden, torch.randint(9, (3, 4), generator=generator)


def test_without_a_margin_it_is_a_linear_layer_and_cross_entropy(rows):
    hidden, target = rows
    layer = FullSoftmax(6, 9, label_smoothing=0.1).double()
    logits = functional.linear(hidden, layer.weight, layer.bias)
    expected = functional.cross_entropy(logits.movedim(-1, 1), target, label_smoothing=0.1)
    torch.testing.assert_close(layer.loss(hidden, target), expected)


@pytest.mark.parametrize("fused", [False, True])
def test_a_margin_changes_the_loss_but_not_the_distribution(rows, fused):
    hidden, target = rows
    torch.manual_seed(0)
    layer = FullSoftmax(6, 9, margin=0.1, softcap=4.0, fused=fused).double()
    with torch.no_grad():
        layer.weight.mul_(30)
    logits = 4 * torch.tanh((hidden @ layer.weight.T) / 4)
    expected = selfish_cross_entropy(logits.flatten(0, 1), target.flatten(), margin=0.1)
    torch.testing.assert_close(layer.loss(hidden, target), expected)
    torch.testing.assert_close(layer.all_log_probs(hidden), logits.log_softmax(-1))
    layer.margin = math.inf
    full = -layer.log_prob(hidden, target).mean()
    torch.testing.assert_close(layer.loss(hidden, target), full)
    assert expected < full - 0.1


def test_a_margin_may_be_a_rule(rows):
    hidden, target = rows
    layer = FullSoftmax(6, 9, margin=partial(norm_scaled_margin, alpha=0.3)).double()
    margin = norm_scaled_margin(hidden, layer.weight, target, alpha=0.3).flatten()
    logits = layer.logits(hidden).flatten(0, 1)
    expected = selfish_cross_entropy(logits, target.flatten(), margin=margin)
    torch.testing.assert_close(layer.loss(hidden, target), expected)


def test_a_tied_weight_is_the_embedding():
    embedding = nn.Embedding(9, 6)
    layer = FullSoftmax(6, 9, weight=embedding.weight, bias=False)
    assert layer.weight is embedding.weight
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    target = torch.tensor([1, 2])
    layer.loss(embedding(torch.tensor([7, 7])), target).backward()
    assert (embedding.weight.grad != 0).any(1).all()
    with pytest.raises(ValueError, match=r"`weight` must be \(8, 6\), got \(9, 6\)"):
        FullSoftmax(6, 8, weight=embedding.weight)


def test_torch_compile_needs_no_graph_break(rows):
    torch._dynamo.reset()
    hidden, target = rows
    layer = FullSoftmax(6, 9, margin=0.05).double()
    compiled = torch.compile(layer.loss, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(hidden, target), layer.loss(hidden, target))


def test_a_layer_that_changes_its_logits_cannot_be_fused():
    with pytest.raises(ValueError, match="`fused` computes no logits"):
        output_layer("gated", 4, 6, fused=True)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("fused", [False, True])
def test_an_adjustment_changes_the_loss_but_not_the_distribution(rows, fused, bias):
    hidden, target = rows
    layer = FullSoftmax(6, 9, margin=2.0, fused=fused, bias=bias).double()
    before = layer.all_log_probs(hidden)
    layer.adjustment = torch.randn(9, dtype=torch.float64)
    logits = layer.logits(hidden) + layer.adjustment
    expected = selfish_cross_entropy(logits.flatten(0, 1), target.flatten(), margin=2.0)
    torch.testing.assert_close(layer.loss(hidden, target), expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(layer.all_log_probs(hidden), before)
    assert "adjustment" not in layer.state_dict()


def test_a_fused_adjustment_needs_logits_without_a_soft_cap(rows):
    layer = FullSoftmax(6, 9, softcap=4.0, fused=True).double()
    layer.adjustment = torch.zeros(9, dtype=torch.float64)
    with pytest.raises(ValueError, match="only without `softcap`"):
        layer.loss(*rows)
