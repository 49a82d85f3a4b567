import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from thresher.lm.losses.selfish import SelfishCrossEntropy, selfish_cross_entropy

SHAPES = [(7,), (5, 7), (0, 7), (3, 7, 2), (2, 7, 3, 2)]
REDUCTIONS = pytest.mark.parametrize("reduction", ["none", "mean", "sum"])


def random_case(*shape, seed=0, dtype=torch.float64):
    """Logits, targets with one ignored, class weights."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(*shape, generator=generator, dtype=dtype)
    classes = shape[min(len(shape) - 1, 1)]
    target = torch.randint(
        classes, shape[:1] + shape[2:] if len(shape) > 1 else (), generator=generator
    )
    if target.numel() > 1:
        target.view(-1)[1] = -100
    weight = torch.rand(classes, generator=generator, dtype=dtype) + 0.1
    return logits, target, weight


def naive_row(z, target, margin, weight, smoothing):
    """Compute the loss of one row with Python floats."""
    survivors = [j for j in range(len(z)) if z[j] >= z[target] - margin]
    normaliser = math.log(sum(math.exp(z[j]) for j in survivors))
    even = sum(weight[j] * (normaliser - z[j]) for j in survivors) / len(survivors)
    return (1 - smoothing) * weight[target] * (normaliser - z[target]) + smoothing * even


# Its definition


@given(
    z=st.lists(st.floats(-20, 20), min_size=1, max_size=6),
    index=st.integers(0, 5),
    margin=st.floats(0, 10),
    smoothing=st.sampled_from([0, 0.1, 1]),
    weighted=st.booleans(),
)
def test_it_equals_its_definition(z, index, margin, smoothing, weighted):
    target = index % len(z)
    weight = [0.5 + j for j in range(len(z))] if weighted else [1.0] * len(z)
    measured = selfish_cross_entropy(
        torch.tensor([z], dtype=torch.float64),
        torch.tensor([target]),
        margin=margin,
        weight=torch.tensor(weight, dtype=torch.float64) if weighted else None,
        reduction="sum",
        label_smoothing=smoothing,
    )
    expected = naive_row(z, target, margin, weight, smoothing)
    assert measured.item() == pytest.approx(expected, abs=1e-9, rel=1e-9)


def test_softcap_comes_first_then_temperature_then_threshold():
    logits, target, weight = random_case(6, 9)
    capped = 3 * torch.tanh(logits / 3) / 0.5
    options = {"margin": 1.5, "weight": weight, "label_smoothing": 0.1}
    torch.testing.assert_close(
        selfish_cross_entropy(logits, target, softcap=3.0, temperature=0.5, **options),
        selfish_cross_entropy(capped, target, **options),
        rtol=0,
        atol=0,
    )


@pytest.mark.parametrize("shape", SHAPES)
@REDUCTIONS
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_infinite_margin_is_torch_bit_for_bit(shape, reduction, smoothing, weighted, dtype):
    logits, target, weight = random_case(*shape, dtype=dtype)
    weight = weight if weighted else None
    mine, torchs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    options = {"weight": weight, "reduction": reduction, "label_smoothing": smoothing}
    measured = selfish_cross_entropy(mine, target, margin=math.inf, **options)
    expected = functional.cross_entropy(torchs, target, **options)
    torch.testing.assert_close(measured, expected, rtol=0, atol=0, equal_nan=True)
    measured.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(mine.grad, torchs.grad, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES)
@REDUCTIONS
def test_a_margin_that_keeps_everything_is_torch(shape, reduction):
    logits, target, weight = random_case(*shape)
    options = {"weight": weight, "reduction": reduction, "label_smoothing": 0.2}
    expected = functional.cross_entropy(logits, target, **options)
    for margin in (1e3, torch.full(target.shape, math.inf)):
        measured = selfish_cross_entropy(logits, target, margin=margin, **options)
        torch.testing.assert_close(measured, expected, equal_nan=True)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if len(shape) > 2])
@REDUCTIONS
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_further_dimensions_are_flattened_into_rows(shape, reduction, smoothing):
    logits, target, weight = random_case(*shape)
    margin = torch.rand(target.shape, dtype=torch.float64) * 3
    options = {"weight": weight, "reduction": reduction, "label_smoothing": smoothing}
    measured = selfish_cross_entropy(logits, target, margin=margin, **options)
    rows = logits.movedim(1, -1).reshape(-1, shape[1])
    flat = selfish_cross_entropy(rows, target.flatten(), margin=margin.flatten(), **options)
    torch.testing.assert_close(measured, flat.reshape(measured.shape))


def test_a_margin_for_each_row_equals_separate_rows():
    logits, target, _ = random_case(5, 7)
    margins = torch.tensor([0.0, 1.0, 2.0, 0.5, math.inf])
    measured = selfish_cross_entropy(logits, target, margin=margins, reduction="none")
    for i, margin in enumerate(margins.tolist()):
        alone = selfish_cross_entropy(
            logits[i : i + 1], target[i : i + 1], margin=margin, reduction="none"
        )
        torch.testing.assert_close(measured[i : i + 1], alone)
    torch.testing.assert_close(
        selfish_cross_entropy(logits, target, margin=torch.tensor(1.0)),
        selfish_cross_entropy(logits, target, margin=1.0),
    )


# Its gradient


def test_gradient_is_exactly_zero_below_the_threshold_and_nowhere_else():
    logits, target, _ = random_case(40, 50)
    logits.requires_grad_()
    selfish_cross_entropy(logits, target, margin=2.0, reduction="sum").backward()
    counted = target >= 0
    threshold = logits[counted].gather(1, target[counted, None]) - 2.0
    survives = logits[counted] >= threshold
    assert 0.05 < survives.double().mean() < 0.95
    assert (logits.grad[counted][~survives] == 0).all()
    assert (logits.grad[counted][survives] != 0).all()
    assert (logits.grad[~counted] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_logit_at_the_threshold_survives(dtype):
    logits = torch.tensor([[1.0, -1.0, -1.5, 3.0]], dtype=dtype, requires_grad=True)
    selfish_cross_entropy(logits, torch.tensor([0]), margin=2.0).backward()
    assert (logits.grad != 0).tolist() == [[True, True, False, True]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_moves_no_token_across_the_threshold(dtype):
    # In bfloat16 100 − 0.2 would round to 100, and 99.5 − (100 − 0.6) has no digits left.
    logits = torch.tensor([[100.0, 99.5, 99.0]], dtype=dtype, requires_grad=True)
    selfish_cross_entropy(logits, torch.tensor([0]), margin=0.6).backward()
    assert (logits.grad != 0).tolist() == [[True, True, False]]


def test_no_gradient_flows_through_the_threshold():
    """The target's gradient is p − 1 among survivors, as with a fixed mask."""
    logits, target, _ = random_case(6, 9)
    mine, fixed = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    selfish_cross_entropy(mine, target, margin=1.0, reduction="sum").backward()
    safe = target.clamp(min=0)
    dead = logits < logits.gather(1, safe[:, None]) - 1.0
    functional.cross_entropy(fixed.masked_fill(dead, -math.inf), target, reduction="sum").backward()
    torch.testing.assert_close(mine.grad, fixed.grad)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@REDUCTIONS
def test_gradients_agree_with_finite_differences(smoothing, reduction):
    logits, target, weight = random_case(4, 6)

    def loss(z):
        options = {"weight": weight, "label_smoothing": smoothing, "softcap": 4.0}
        return selfish_cross_entropy(
            z, target, margin=1.3, reduction=reduction, temperature=0.8, **options
        )

    assert torch.autograd.gradcheck(loss, logits.requires_grad_())


def test_the_margin_has_no_gradient():
    logits, target, _ = random_case(4, 6)
    margin = torch.ones(4, requires_grad=True)
    assert not selfish_cross_entropy(logits, target, margin=margin).requires_grad


# Awkward input


def test_logits_that_are_not_finite_behave_as_in_torch():
    target = torch.tensor([0])
    forbidden = torch.tensor([[1.0, -math.inf, 0.5]])
    for margin in (1.0, math.inf):
        options = {"margin": margin, "reduction": "sum"}
        expected = functional.cross_entropy(torch.tensor([[1.0, 0.5]]), target)
        torch.testing.assert_close(selfish_cross_entropy(forbidden, target, **options), expected)
        impossible = selfish_cross_entropy(forbidden, torch.tensor([1]), **options)
        assert impossible == math.inf
        broken = selfish_cross_entropy(torch.tensor([[1.0, math.nan]]), target, **options)
        assert broken.isnan()


def test_all_targets_ignored_is_nan_for_the_mean_and_zero_for_the_rest():
    logits, _, _ = random_case(3, 4)
    target = torch.full((3,), -100)
    for smoothing in (0.0, 0.1):
        options = {"margin": 1.0, "label_smoothing": smoothing}
        assert selfish_cross_entropy(logits, target, **options).isnan()
        assert selfish_cross_entropy(logits, target, reduction="sum", **options) == 0
        rows = selfish_cross_entropy(logits, target, reduction="none", **options)
        assert rows.tolist() == [0, 0, 0]


def test_another_index_may_be_ignored():
    logits, _, _ = random_case(3, 4)
    target = torch.tensor([1, 3, 2])
    measured = selfish_cross_entropy(logits, target, margin=1.0, ignore_index=3)
    expected = selfish_cross_entropy(logits[[0, 2]], target[[0, 2]], margin=1.0)
    torch.testing.assert_close(measured, expected)


def test_a_single_row_may_have_a_target_of_shape_one():
    logits = torch.tensor([1.0, 0.5, -2.0])
    for smoothing in (0.0, 0.1):
        options = {"margin": torch.tensor([1.0]), "label_smoothing": smoothing}
        measured = selfish_cross_entropy(logits, torch.tensor([1]), **options)
        expected = selfish_cross_entropy(logits[None], torch.tensor([1]), **options)
        torch.testing.assert_close(measured, expected)


def test_a_vocabulary_of_one_costs_nothing():
    assert selfish_cross_entropy(torch.randn(3, 1), torch.zeros(3).long(), margin=0.0) == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_half_precision_gives_the_dtype_of_torch_and_nearly_its_value(dtype, smoothing):
    logits, target, _ = random_case(6, 9, dtype=torch.float32)
    options = {"margin": 2.0, "label_smoothing": smoothing}
    half = selfish_cross_entropy(logits.to(dtype), target, **options)
    torchs = functional.cross_entropy(logits.to(dtype), target, label_smoothing=smoothing)
    assert half.dtype == torchs.dtype
    whole = selfish_cross_entropy(logits.to(dtype).float(), target, **options)
    torch.testing.assert_close(half.float(), whole, rtol=2e-2, atol=2e-2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        automatic = selfish_cross_entropy(logits.to(dtype), target, **options)
    assert automatic.dtype == torch.float32
    torch.testing.assert_close(automatic, whole)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("margin", [2.0, math.inf, torch.tensor([0.5, 1.0, 2.0, math.inf])])
def test_torch_compile_needs_no_graph_break(backend, margin):
    torch._dynamo.reset()
    logits, target, weight = random_case(4, 6)

    def loss(z):
        options = {"weight": weight, "label_smoothing": 0.1, "softcap": 5.0}
        return selfish_cross_entropy(z, target, margin=margin, **options)

    plain, compiled = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    expected = loss(plain)
    measured = torch.compile(loss, backend=backend, fullgraph=True)(compiled)
    expected.backward()
    measured.backward()
    torch.testing.assert_close(measured, expected)
    torch.testing.assert_close(compiled.grad, plain.grad)


# Errors


GOOD = torch.zeros(3, 5)
TARGET = torch.tensor([0, 1, 2])


@pytest.mark.parametrize(
    ("logits", "target", "options"),
    [
        (GOOD, TARGET[:2], {}),
        (GOOD, TARGET + 4, {}),
        (GOOD, TARGET - 5, {}),
        (GOOD, TARGET.int(), {}),
        (GOOD, TARGET[:, None].expand(3, 5), {}),
        (GOOD[..., None], TARGET, {}),
        (GOOD[0], TARGET, {}),
        (GOOD, TARGET, {"reduction": "average"}),
        (GOOD, TARGET, {"weight": torch.ones(4)}),
        (GOOD, TARGET, {"label_smoothing": 2.0}),
        (GOOD.long(), TARGET, {}),
    ],
)
def test_errors_are_those_of_torch(logits, target, options):
    with pytest.raises(Exception) as torchs:  # noqa: PT011
        functional.cross_entropy(logits, target, **options)
    with pytest.raises(torchs.type):
        selfish_cross_entropy(logits, target, margin=2.0, **options)


def test_its_own_options_are_checked():
    with pytest.raises(TypeError, match="class indices"):
        selfish_cross_entropy(GOOD, GOOD.softmax(1), margin=2.0)
    for margin in (-1.0, math.nan, torch.tensor([1.0, -2.0, 0.0])):
        with pytest.raises(ValueError, match="`margin` must be at least 0"):
            selfish_cross_entropy(GOOD, TARGET, margin=margin)
    with pytest.raises(ValueError, match=r"shape \(3,\), got shape \(5,\)"):
        selfish_cross_entropy(GOOD, TARGET, margin=torch.ones(5))
    for temperature in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="`temperature` must be positive"):
            selfish_cross_entropy(GOOD, TARGET, margin=1.0, temperature=temperature)
    with pytest.raises(ValueError, match="`softcap` must be positive"):
        selfish_cross_entropy(GOOD, TARGET, margin=1.0, softcap=0.0)


# The module


def test_the_module_equals_the_function_with_its_options():
    logits, target, weight = random_case(5, 7)
    options = {"weight": weight, "reduction": "sum", "label_smoothing": 0.1, "softcap": 9.0}
    module = SelfishCrossEntropy(2.0, temperature=0.7, **options)
    expected = selfish_cross_entropy(logits, target, margin=2.0, temperature=0.7, **options)
    torch.testing.assert_close(module(logits, target), expected)
    assert "weight" in module.state_dict()
    module.margin = 0.5
    narrower = selfish_cross_entropy(logits, target, margin=0.5, temperature=0.7, **options)
    torch.testing.assert_close(module(logits, target), narrower)
    assert repr(module) == "SelfishCrossEntropy(margin=0.5)"
