import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from thresher.lm.losses.kernels import chunked
from thresher.lm.losses.kernels.choice import is_small
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.selfish import selfish_cross_entropy

MARGINS = [0.0, 0.5, 2.0, math.inf, "rows"]


@pytest.fixture(params=[1, 20, 10**6], ids=["one column", "some columns", "all columns"])
def tiles(request, monkeypatch):
    """Run each test with tiles of every size."""
    monkeypatch.setattr(chunked, "TILE_ELEMENTS", request.param)


def random_case(positions=7, width=5, vocabulary=11, *, dtype=torch.float64, seed=0):
    """Hidden states, weight, bias, targets with one ignored, class weights, margins."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    target = torch.randint(vocabulary, (positions,), generator=generator)
    if positions > 1:
        target[1] = -100
    class_weight = normal(vocabulary).exp()
    margins = 2 * normal(positions).abs().float()
    return (
        normal(positions, width),
        normal(vocabulary, width),
        normal(vocabulary),
        target,
        class_weight,
        margins,
    )


@pytest.mark.usefixtures("tiles")
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [{}, {"temperature": 0.7, "softcap": 3.0}])
def test_value_and_gradients_equal_those_from_all_logits(
    margin, reduction, smoothing, weighted, scale
):
    hidden, weight, bias, target, class_weight, margins = random_case()
    inputs = [hidden.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()]
    class_weight = class_weight if weighted else None
    options = {
        "margin": margins if margin == "rows" else margin,
        "reduction": reduction,
        "label_smoothing": smoothing,
        **scale,
    }
    measured = linear_selfish_cross_entropy(
        hidden, weight, target, bias=bias, class_weight=class_weight, **options
    )
    logits = hidden @ weight.T + bias
    expected = selfish_cross_entropy(logits, target, weight=class_weight, **options)
    torch.testing.assert_close(measured, expected)
    outside = torch.randn(expected.shape, dtype=expected.dtype)
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs, outside),
        torch.autograd.grad(expected, inputs, outside),
    )


@pytest.mark.usefixtures("tiles")
def test_gradients_agree_with_finite_differences():
    hidden, weight, bias, target, class_weight, margins = random_case(4, 3, 5)

    def loss(hidden, weight, bias):
        return linear_selfish_cross_entropy(
            hidden,
            weight,
            target,
            margin=margins,
            bias=bias,
            class_weight=class_weight,
            label_smoothing=0.1,
            softcap=4.0,
        )

    inputs = [x.requires_grad_() for x in (hidden, weight, bias)]
    assert torch.autograd.gradcheck(loss, inputs)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_gradients_for_only_one_input(which):
    hidden, weight, bias, target, _, _ = random_case()
    inputs = [hidden, weight, bias]
    inputs[which].requires_grad_()
    measured = linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, bias=bias)
    expected = selfish_cross_entropy(hidden @ weight.T + bias, target, margin=1.0)
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs[which]), torch.autograd.grad(expected, inputs[which])
    )


def test_tied_weights_get_the_sum_of_both_gradients():
    _, weight, _, target, _, _ = random_case()
    weight.requires_grad_()
    tokens = torch.tensor([3, 1, 4, 1, 5, 9, 2])
    measured = linear_selfish_cross_entropy(weight[tokens], weight, target, margin=2.0)
    expected = selfish_cross_entropy(weight[tokens] @ weight.T, target, margin=2.0)
    torch.testing.assert_close(
        torch.autograd.grad(measured, weight), torch.autograd.grad(expected, weight)
    )


def test_a_token_below_the_threshold_gets_no_gradient_at_all():
    hidden, weight, _, _, _, _ = random_case(positions=1, vocabulary=50)
    weight.requires_grad_()
    target = (hidden @ weight.T).topk(5).indices[0, -1:]
    linear_selfish_cross_entropy(hidden, weight, target, margin=0.5).backward()
    logits = (hidden @ weight.T)[0]
    dead = logits < logits[target] - 0.5
    assert 0 < dead.sum() < 49
    assert (weight.grad[dead] == 0).all()
    assert (weight.grad[~dead] != 0).any(1).all()


def test_the_loss_is_exactly_zero_if_only_the_target_survives():
    """The target is compared with itself, so the rounding of the product has no influence."""
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(64, 33, generator=generator)
    weight = torch.randn(100, 33, generator=generator)
    target = (hidden @ weight.T).argmax(1)
    rows = linear_selfish_cross_entropy(hidden, weight, target, margin=0.0, reduction="none")
    assert (rows == 0).all()


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor created within the context."""

    elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.numel())
        return out


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_neither_pass_holds_all_logits(smoothing, monkeypatch):
    monkeypatch.setattr(chunked, "TILE_ELEMENTS", 1000)
    positions, width, vocabulary = 100, 4, 500
    hidden, weight, _, target, _, _ = random_case(positions, width, vocabulary)
    hidden.requires_grad_(), weight.requires_grad_()
    options = {"margin": 1.0, "label_smoothing": smoothing, "softcap": 9.0}
    with LargestTensor() as chunks:
        linear_selfish_cross_entropy(hidden, weight, target, **options).backward()
    with LargestTensor() as whole:
        selfish_cross_entropy(hidden @ weight.T, target, **options).backward()
    assert whole.elements == positions * vocabulary
    assert chunks.elements == vocabulary * width  # the gradient itself


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_only_rounds_the_gradients(dtype, monkeypatch):
    """Against float64, from the same rounded inputs: only the gradients' own rounding is left."""
    monkeypatch.setattr(chunked, "TILE_ELEMENTS", 1000)
    hidden, weight, bias, target, _, _ = random_case(40, 16, 200, dtype=dtype)
    precise = [x.double().requires_grad_() for x in (hidden, weight, bias)]
    half = [x.requires_grad_() for x in (hidden, weight, bias)]
    expected = selfish_cross_entropy(precise[0] @ precise[1].T + precise[2], target, margin=2.0)
    measured = linear_selfish_cross_entropy(half[0], half[1], target, margin=2.0, bias=half[2])
    assert measured.dtype == torch.float32
    torch.testing.assert_close(measured.double(), expected, rtol=1e-5, atol=1e-5)
    measured.backward()
    expected.backward()
    for mine, exact in zip(half, precise, strict=True):
        assert mine.grad.dtype == dtype
        rounded = exact.grad.to(dtype)
        torch.testing.assert_close(mine.grad, rounded, rtol=2 * torch.finfo(dtype).eps, atol=1e-6)


def test_autocast_changes_nothing():
    hidden, weight, bias, target, _, _ = random_case(dtype=torch.float32)
    hidden.requires_grad_()
    expected = linear_selfish_cross_entropy(hidden, weight, target, margin=2.0, bias=bias)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        measured = linear_selfish_cross_entropy(hidden, weight, target, margin=2.0, bias=bias)
        grad = torch.autograd.grad(measured, hidden)
    torch.testing.assert_close(measured, expected, rtol=0, atol=0)
    torch.testing.assert_close(grad, torch.autograd.grad(expected, hidden), rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.filterwarnings("ignore:.*should not be instantiated")  # torch.compile does so itself
def test_torch_compile_needs_no_graph_break(backend, monkeypatch):
    monkeypatch.setattr(chunked, "TILE_ELEMENTS", 40)
    torch._dynamo.reset()
    hidden, weight, bias, target, _, margins = random_case()
    inputs = [x.requires_grad_() for x in (hidden, weight, bias)]

    def loss(hidden, weight, bias):
        options = {"label_smoothing": 0.1, "softcap": 3.0}
        return linear_selfish_cross_entropy(
            hidden, weight, target, margin=margins, bias=bias, **options
        )

    expected = loss(*inputs)
    measured = torch.compile(loss, backend=backend, fullgraph=True)(*inputs)
    torch.testing.assert_close(measured, expected)
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs), torch.autograd.grad(expected, inputs)
    )


def test_it_runs_under_gradient_checkpointing():
    hidden, weight, _, target, _, _ = random_case()
    weight.requires_grad_()

    def loss(weight):
        return linear_selfish_cross_entropy(hidden, weight, target, margin=2.0)

    kept = checkpoint(loss, weight, use_reentrant=False)
    torch.testing.assert_close(
        torch.autograd.grad(kept, weight), torch.autograd.grad(loss(weight), weight)
    )


def test_no_positions_all_ignored_and_a_vocabulary_of_one():
    hidden, weight, _, _, _, _ = random_case()
    nothing = torch.empty(0, dtype=torch.int64)
    options = {"margin": 1.0, "reduction": "sum"}
    assert linear_selfish_cross_entropy(hidden[:0], weight, nothing, **options) == 0
    ignored = torch.full((7,), -100)
    hidden.requires_grad_()
    assert linear_selfish_cross_entropy(hidden, weight, ignored, margin=1.0).isnan()
    linear_selfish_cross_entropy(hidden, weight, ignored, **options).backward()
    assert (hidden.grad == 0).all()
    zeros = torch.zeros(7, dtype=torch.int64)
    assert linear_selfish_cross_entropy(hidden, weight[:1], zeros, margin=1.0) == 0


def test_errors_say_what_is_allowed():
    """Arguments of the loss alone; for the others see `test_argument_checks`."""
    hidden, weight, _, target, _, _ = random_case()
    with pytest.raises(ValueError, match=r"`class_weight` must be \(11,\)"):
        linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, class_weight=weight[0])
    with pytest.raises(ValueError, match="'none', 'mean' or 'sum'"):
        linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, reduction="average")
    with pytest.raises(RuntimeError, match="label_smoothing"):
        linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, label_smoothing=-0.1)


@pytest.mark.parametrize(
    ("positions", "width", "vocabulary", "little"),
    [(128, 512, 32_768, True), (1024, 512, 32_768, False), (16, 4096, 128_256, False)],
)
def test_small_inputs_are_left_to_plain_torch(positions, width, vocabulary, little):
    """On a GPU, ms of kernels and of plain torch: 5.4 and 3.2; 6.4 and 13.5; 5.5 and 9.8."""
    hidden = torch.empty(positions, width, device="meta")
    assert is_small(hidden, torch.empty(vocabulary, width, device="meta")) == little


def naive_loss(logits, target, *, margin, smoothing, z_loss, temperature, softcap, class_weight):
    """Return the sum of the losses, one row and one survivor after the other."""
    logits = softcap * (logits / softcap).tanh() / temperature
    total = 0.0
    for row, token in zip(logits, target, strict=True):
        if token == -100:
            continue
        own = class_weight[token]
        alive = [j for j in range(len(row)) if row[j] >= row[token] - margin]
        lse = row[alive].logsumexp(0)
        even = sum(class_weight[j] * (lse - row[j]) for j in alive) / len(alive)
        total = total + (1 - smoothing) * own * (lse - row[token]) + smoothing * even
        total = total + z_loss * own * lse**2
    return total


@pytest.mark.parametrize("path", ["logits", "chunked", "dense"])
@pytest.mark.parametrize("margin", [0.0, 2.3, math.inf])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_form_has_the_full_precision_of_float64(path, margin, weighted):
    hidden, weight, bias, target, class_weight, _ = random_case(positions=9)
    class_weight = class_weight if weighted else torch.ones_like(class_weight)
    inputs = [each.requires_grad_() for each in (hidden, weight, bias)]
    options = {"margin": margin, "temperature": 0.7, "softcap": 3.0, "z_loss": 0.01}
    logits = hidden @ weight.T + bias
    expected = naive_loss(logits, target, smoothing=0.1, class_weight=class_weight, **options)
    options |= {"label_smoothing": 0.1, "reduction": "sum"}
    given = class_weight if weighted else None
    if path == "logits":
        found = selfish_cross_entropy(logits, target, weight=given, **options)
    else:
        found = linear_selfish_cross_entropy(
            hidden, weight, target, bias=bias, class_weight=given, implementation=path, **options
        )
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=0)
    torch.testing.assert_close(
        torch.autograd.grad(found, inputs, retain_graph=True),
        torch.autograd.grad(expected, inputs),
        rtol=1e-11,
        atol=1e-13,
    )


def test_triton_without_a_gpu_is_refused(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET")
    hidden, weight, _, target, *_ = random_case(dtype=torch.float32)
    with pytest.raises(ValueError, match="'triton' needs tensors on a GPU, got cpu"):
        linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, implementation="triton")
