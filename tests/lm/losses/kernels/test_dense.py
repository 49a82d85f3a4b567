"""The dense implementation in plain torch, and its kernel in Triton's interpreter."""

import math

import pytest
import torch

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.kernels import dense
from thresher.lm.losses.kernels.choice import survivor_fraction
from thresher.lm.losses.kernels.dense_kernels import replace_by_gradients
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy, loss_sum_and_rows
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.losses.statistics import selfish_statistics

MARGINS = [0.0, 2.0, math.inf, "rows"]


def random_case(positions=9, width=5, vocabulary=11, *, dtype=torch.float64):
    """Hidden states, weight, bias, targets with one ignored, class weights, margins."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    target = torch.randint(vocabulary, (positions,), generator=generator)
    target[1] = -100
    inputs = [normal(positions, width), normal(vocabulary, width), normal(vocabulary)]
    return inputs, target, normal(vocabulary).exp(), 2 * normal(positions).abs().float()


@pytest.fixture(params=[1, 10**6], ids=["row by row", "all rows"], autouse=True)
def rows_at_once(request, monkeypatch):
    monkeypatch.setattr(dense, "ROWS_AT_ONCE", request.param)
    monkeypatch.setattr(dense, "_ROW_MULTIPLE", 1)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.2}, {"z_loss": 0.1}])
@pytest.mark.parametrize("scale", [{}, {"temperature": 0.7, "softcap": 3.0}])
def test_value_and_gradients_equal_those_from_all_logits(
    margin, reduction, weighted, options, scale
):
    inputs, target, class_weight, margins = random_case()
    inputs = [each.requires_grad_() for each in inputs]
    options = options | scale | {"reduction": reduction}
    options["margin"] = margins if margin == "rows" else margin
    class_weight = class_weight if weighted else None
    measured = linear_selfish_cross_entropy(
        inputs[0],
        inputs[1],
        target,
        bias=inputs[2],
        class_weight=class_weight,
        implementation="dense",
        **options,
    )
    logits = inputs[0] @ inputs[1].T + inputs[2]
    expected = selfish_cross_entropy(logits, target, weight=class_weight, **options)
    torch.testing.assert_close(measured, expected)
    torch.testing.assert_close(
        torch.autograd.grad(3 * measured, inputs), torch.autograd.grad(3 * expected, inputs)
    )


@pytest.mark.parametrize("which", [0, 1, 2])
def test_gradients_for_only_one_input(which):
    inputs, target, _, _ = random_case()
    inputs[which].requires_grad_()
    options = {"margin": 1.0, "bias": inputs[2]}
    measured = linear_selfish_cross_entropy(*inputs[:2], target, implementation="dense", **options)
    expected = linear_selfish_cross_entropy(*inputs[:2], target, **options)
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs[which]), torch.autograd.grad(expected, inputs[which])
    )


def test_it_refuses_losses_of_single_positions():
    inputs, target, _, _ = random_case()
    with pytest.raises(ValueError, match="'mean' or 'sum'"):
        linear_selfish_cross_entropy(
            *inputs[:2], target, margin=1.0, reduction="none", implementation="dense"
        )


def test_the_losses_of_positions_come_with_the_sum():
    inputs, target, _, _ = random_case()
    options = MarginLossOptions(margin=2.0)
    total, rows = dense.loss_sum(LinearInputs(*inputs[:2], target), options)
    expected = selfish_cross_entropy(inputs[0] @ inputs[1].T, target, margin=2.0, reduction="none")
    torch.testing.assert_close(rows, expected)
    torch.testing.assert_close(total, expected.sum())
    other_total, other_rows = loss_sum_and_rows(LinearInputs(*inputs[:2], target), options)
    torch.testing.assert_close((other_total, other_rows), (total, rows))


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_as_exact_as_its_gradients(width, dtype):
    """With a width of 40, all rows are computed at once and their gradients are not added up."""
    inputs, target, _, _ = random_case(positions=12, width=width, dtype=dtype)
    half = [each.requires_grad_() for each in inputs]
    precise = [each.detach().double().requires_grad_() for each in inputs]
    found = linear_selfish_cross_entropy(
        *half[:2], target, margin=2.0, bias=half[2], implementation="dense"
    )
    expected = selfish_cross_entropy(precise[0] @ precise[1].T + precise[2], target, margin=2.0)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    found.backward()
    expected.backward()
    for mine, exact in zip(half, precise, strict=True):
        assert mine.grad.dtype == dtype
        tolerance = {"rtol": 4 * torch.finfo(dtype).eps, "atol": 1e-5}
        torch.testing.assert_close(mine.grad.double(), exact.grad, **tolerance)


def test_a_target_outside_the_vocabulary_gives_nan_and_no_invalid_access():
    inputs, target, _, _ = random_case()
    target[3] = 99
    total, rows = dense.loss_sum(LinearInputs(*inputs[:2], target), MarginLossOptions(margin=2.0))
    assert total.isnan()
    assert rows.isnan().nonzero().tolist() == [[3]]


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
def test_torch_compile_needs_no_graph_break():
    torch._dynamo.reset()
    inputs, target, _, _ = random_case()
    inputs = [each.requires_grad_() for each in inputs]

    def loss(hidden, weight, bias):
        return linear_selfish_cross_entropy(
            hidden, weight, target, bias=bias, margin=2.0, implementation="dense"
        )

    measured = torch.compile(loss, backend="aot_eager", fullgraph=True)(*inputs)
    torch.testing.assert_close(measured, loss(*inputs))
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs), torch.autograd.grad(loss(*inputs), inputs)
    )


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.2, "z_loss": 0.01}])
@pytest.mark.parametrize("scale", [{}, {"temperature": 0.7}, {"softcap": 3.0, "temperature": 2.0}])
@pytest.mark.parametrize("vocabulary", [11, 64])
def test_the_kernel_equals_plain_torch(margin, options, scale, vocabulary, monkeypatch):
    monkeypatch.setattr("thresher.lm.losses.kernels.dense_kernels.BLOCK", 16)
    _, target, class_weight, margins = random_case(vocabulary=vocabulary, dtype=torch.float32)
    target = target.clamp(min=-1).int()
    logits = 3 * torch.randn(len(target), vocabulary, generator=torch.Generator().manual_seed(1))
    margin = margins if margin == "rows" else torch.tensor(margin)
    chosen = MarginLossOptions(margin=margin, **options, **scale)
    weights = None if options else class_weight
    expected, gradients = dense.losses_in_torch(logits, target, weights, chosen)
    losses = torch.full_like(expected, math.nan)
    row_weight = None if weights is None else weights[target.clamp(min=0)]
    only_losses = logits.clone()
    for buffer, gradient in ((only_losses, False), (logits, True)):
        replace_by_gradients(buffer, target, margin, row_weight, losses, chosen, gradient=gradient)
        torch.testing.assert_close(losses, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(logits, gradients, rtol=1e-4, atol=1e-5)
    assert not torch.equal(only_losses, logits)


def test_the_sampled_fraction_of_survivors_is_exact_for_few_rows():
    inputs, target, _, margins = random_case(positions=100)
    sampled = survivor_fraction(
        LinearInputs(*inputs[:2], target), MarginLossOptions(margin=margins)
    )
    exact = selfish_statistics(inputs[0] @ inputs[1].T, target, margin=margins)
    assert sampled == pytest.approx(exact.mean_fraction)
