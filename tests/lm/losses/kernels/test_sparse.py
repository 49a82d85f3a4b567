"""The Triton implementation, in Triton's interpreter."""

import itertools
import math
import subprocess
import sys

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.kernels import sparse
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.selfish import selfish_cross_entropy

# Plans that force each way of processing rows, which the default plan would not use for so few.
PLANS = {
    "light": Plan(columns=32, recorded_fraction=2, light_fraction=1),
    "heavy": Plan(columns=32, recorded_fraction=2, light_fraction=0, dense_multiple=4),
    "full": Plan(columns=32, recorded_fraction=0, dense_multiple=4, recomputed_elements=50),
    "mixed": Plan(
        columns=16,
        logits_elements=128,
        recorded_fraction=0.35,
        light_fraction=0.15,
        dense_multiple=2,
        gradient_elements=200,
    ),
    "default": Plan(columns=64),  # 4096 would be many steps of an interpreter
}
GRID = {
    "dtype": [torch.float32, torch.float16],
    "shape": [(1, 1, 2), (5, 7, 40), (6, 33, 37), (9, 4, 50)],
    "ignored": [0, 1, 3],
    "bias": [False, True],
    "scale": [{}, {"softcap": 3.0}, {"temperature": 0.7}, {"softcap": 5.0, "temperature": 1.5}],
    "reduction": ["mean", "sum", "none"],
    "margin": [0.5, 2.0, 4.0, 16.0, math.inf, "rows"],
    "extras": [{}, {"label_smoothing": 0.2}, {"weighted": True}],
    "plan": list(PLANS),
}


def pairwise(grid):
    """Return few rows of the grid that contain every pair of values of different columns."""
    names = list(grid)
    missing = {
        (a, i, b, j)
        for a, b in itertools.combinations(names, 2)
        for i in range(len(grid[a]))
        for j in range(len(grid[b]))
    }
    rows = []
    while missing:
        a, i, b, j = min(missing, key=str)
        row = {a: i, b: j}
        for name in names:
            if name not in row:
                row[name] = max(
                    range(len(grid[name])),
                    key=lambda value, name=name: sum(
                        ((name, value, *other) in missing) + ((*other, name, value) in missing)
                        for other in row.items()
                    ),
                )
        missing -= {(a, row[a], b, row[b]) for a, b in itertools.combinations(names, 2)}
        rows.append({name: grid[name][row[name]] for name in names})
    return rows


def random_case(positions=9, width=7, vocabulary=40, *, dtype=torch.float32, ignored=1, seed=0):
    """Hidden states, weight, bias, targets."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    target = torch.randint(vocabulary, (positions,), generator=generator)
    target[positions - min(ignored, positions - 1) :] = -100
    return normal(positions, width), normal(vocabulary, width), normal(vocabulary), target


def use(monkeypatch, plan):
    monkeypatch.setattr(sparse, "PLAN", PLANS[plan] if isinstance(plan, str) else plan)


def triton_loss(hidden, weight, target, **options):
    return linear_selfish_cross_entropy(hidden, weight, target, implementation="triton", **options)


def value_and_gradients(loss, *inputs):
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    value = loss(*inputs)
    outside = torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value.detach(), *torch.autograd.grad(value, inputs, outside)]


@pytest.mark.parametrize("case", pairwise(GRID), ids=lambda case: case["plan"])
def test_errors_are_at_most_those_of_naive_half_precision(case, monkeypatch):
    """Against float64, from the same rounded inputs."""
    use(monkeypatch, case["plan"])
    *inputs, target = random_case(*case["shape"], dtype=case["dtype"], ignored=case["ignored"])
    inputs = inputs if case["bias"] else inputs[:2]
    margin, extras = case["margin"], dict(case["extras"])
    if margin == "rows":
        margin = torch.linspace(0, 5, len(target))
    options = {"margin": margin, "reduction": case["reduction"], **case["scale"]}
    classes = torch.linspace(0.5, 2, len(inputs[1])) if extras.pop("weighted", False) else None
    options |= extras

    def measured(hidden, weight, bias=None):
        return triton_loss(hidden, weight, target, bias=bias, class_weight=classes, **options)

    def naive(hidden, weight, bias=None):
        logits = hidden @ weight.T
        logits = logits if bias is None else logits + bias
        weights = None if classes is None else classes.to(logits.dtype)
        return selfish_cross_entropy(logits, target, weight=weights, **options)

    exact = value_and_gradients(naive, *(x.double() for x in inputs))
    rough = value_and_gradients(naive, *inputs)
    found = value_and_gradients(measured, *inputs)
    tolerance = 1e-5 if case["dtype"] == torch.float32 else 1e-3
    for mine, its, true in zip(found, rough, exact, strict=True):
        allowed = (its.double() - true).norm() + tolerance * true.norm() + 1e-6
        assert (mine.double() - true).norm() <= allowed


@pytest.mark.parametrize("plan", ["light", "heavy", "full"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_gradients_for_only_one_input(plan, which, monkeypatch):
    use(monkeypatch, plan)
    *inputs, target = random_case()
    inputs[which].requires_grad_()
    measured = triton_loss(inputs[0], inputs[1], target, margin=1.0, bias=inputs[2])
    expected = selfish_cross_entropy(inputs[0] @ inputs[1].T + inputs[2], target, margin=1.0)
    torch.testing.assert_close(
        torch.autograd.grad(measured, inputs[which]),
        torch.autograd.grad(expected, inputs[which]),
        rtol=1e-4,
        atol=1e-6,
    )


def test_tied_weights_get_the_sum_of_both_gradients(monkeypatch):
    use(monkeypatch, "mixed")
    _, weight, _, target = random_case()
    weight.requires_grad_()
    tokens = torch.arange(9) * 4
    measured = triton_loss(weight[tokens], weight, target, margin=2.0)
    expected = selfish_cross_entropy(weight[tokens] @ weight.T, target, margin=2.0)
    torch.testing.assert_close(
        torch.autograd.grad(measured, weight),
        torch.autograd.grad(expected, weight),
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.parametrize("plan", ["light", "heavy", "full"])
def test_a_token_below_the_threshold_gets_no_gradient_at_all(plan, monkeypatch):
    use(monkeypatch, plan)
    hidden, weight, _, _ = random_case(positions=2)
    weight.requires_grad_()
    logits = (hidden @ weight.T).detach()
    target = logits.topk(5).indices[:, -1]
    triton_loss(hidden, weight, target, margin=0.5).backward()
    dead = (logits < logits.gather(1, target[:, None]) - 0.5).all(0)
    assert 0 < dead.sum() < 39
    assert (weight.grad[dead] == 0).all()
    assert (weight.grad[~dead] != 0).any(1).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("plan", ["light", "heavy", "full"])
def test_the_loss_is_exactly_zero_if_only_the_target_survives(plan, dtype, monkeypatch):
    """The target is compared with itself, so the rounding of the product has no influence."""
    use(monkeypatch, plan)
    hidden, weight, _, _ = random_case(positions=8, width=33, vocabulary=100, dtype=dtype)
    hidden.requires_grad_()
    target = (hidden.float() @ weight.float().T).argmax(1)
    rows = triton_loss(hidden, weight, target, margin=0.0, reduction="none")
    rows.sum().backward()
    assert (rows == 0).all()
    assert (hidden.grad == 0).all()


@pytest.mark.parametrize("plan", ["mixed", "full"])
def test_two_runs_give_identical_results(plan, monkeypatch):
    use(monkeypatch, plan)
    *inputs, target = random_case(dtype=torch.float16)

    def loss(hidden, weight, bias):
        return triton_loss(hidden, weight, target, bias=bias, margin=2.0)

    first, second = value_and_gradients(loss, *inputs), value_and_gradients(loss, *inputs)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_gradients_do_not_depend_on_the_capacity_of_the_record(monkeypatch):
    """With capacity for all survivors, for some and for none."""
    *inputs, target = random_case()

    def loss(hidden, weight, bias):
        return triton_loss(hidden, weight, target, bias=bias, margin=2.0)

    results = []
    for fraction in (2, 0.1, 0):
        use(monkeypatch, Plan(columns=32, recorded_fraction=fraction))
        results.append(value_and_gradients(loss, *inputs))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_gradients_can_be_computed_twice(monkeypatch):
    """Also if the memory of the record is reused for logits."""
    use(monkeypatch, Plan(columns=128, recorded_fraction=1 / 4, max_full_fraction=0))
    hidden, weight, _, target = random_case(positions=5, vocabulary=128)
    weight.requires_grad_()
    loss = triton_loss(hidden, weight, target, margin=3.0)
    first = torch.autograd.grad(loss, weight, retain_graph=True)
    assert torch.equal(torch.autograd.grad(loss, weight)[0], first[0])


@pytest.mark.parametrize("plan", ["light", "heavy", "full"])
def test_a_loss_multiplied_by_zero_has_zero_gradients(plan, monkeypatch):
    """Gradients are divided by the largest gradient of a row, which is zero here."""
    use(monkeypatch, plan)
    hidden, weight, _, target = random_case()
    weight.requires_grad_()
    (0 * triton_loss(hidden, weight, target, margin=2.0)).backward()
    assert (weight.grad == 0).all()


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")  # torch.compile does so itself
def test_torch_compile_needs_no_graph_break(monkeypatch):
    use(monkeypatch, "mixed")
    torch._dynamo.reset()
    *inputs, target = random_case()

    def loss(hidden, weight, bias):
        return triton_loss(hidden, weight, target, bias=bias, margin=2.0, softcap=3.0)

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    for a, b in zip(
        value_and_gradients(compiled, *inputs), value_and_gradients(loss, *inputs), strict=True
    ):
        torch.testing.assert_close(a, b)


def test_it_runs_under_gradient_checkpointing(monkeypatch):
    use(monkeypatch, "light")
    hidden, weight, _, target = random_case()
    weight.requires_grad_()

    def loss(weight):
        return triton_loss(hidden, weight, target, margin=2.0)

    kept = checkpoint(loss, weight, use_reentrant=False)
    torch.testing.assert_close(
        torch.autograd.grad(kept, weight), torch.autograd.grad(loss(weight), weight)
    )


def test_autocast_uses_the_dtype_of_linear(monkeypatch):
    use(monkeypatch, "light")
    hidden, weight, _, target = random_case()
    weight.requires_grad_()
    with torch.autocast("cpu", dtype=torch.float16):
        measured = triton_loss(hidden, weight, target, margin=2.0)
    expected = triton_loss(hidden.half(), weight.half(), target, margin=2.0)
    torch.testing.assert_close(measured, expected, rtol=0, atol=0)
    grad = torch.autograd.grad(measured, weight)
    assert grad[0].dtype == torch.float32
    torch.testing.assert_close(grad, torch.autograd.grad(expected, weight), rtol=0, atol=0)


def test_a_nan_logit_gives_a_nan_loss(monkeypatch):
    use(monkeypatch, "light")
    hidden, weight, _, target = random_case()
    weight[3] = math.nan
    assert triton_loss(hidden, weight, target, margin=2.0).isnan()


def test_a_target_out_of_range_gives_a_nan_loss_and_no_invalid_access():
    hidden, weight, _, target = random_case(ignored=1)
    target[0], target[1] = 10**12, -7
    rows = sparse.row_losses(LinearInputs(hidden, weight, target), MarginLossOptions(margin=2.0))
    assert rows[:2].isnan().all()
    assert rows[-1] == 0
    right = selfish_cross_entropy(
        hidden[2:-1] @ weight.T, target[2:-1], margin=2.0, reduction="none"
    )
    torch.testing.assert_close(rows[2:-1], right)


def test_no_positions_and_all_ignored(monkeypatch):
    use(monkeypatch, "light")
    hidden, weight, bias, _ = random_case()
    options = {"margin": 1.0, "reduction": "sum", "bias": bias.requires_grad_()}
    weight.requires_grad_(), hidden.requires_grad_()
    triton_loss(hidden[:0], weight, torch.empty(0, dtype=torch.int64), **options).backward()
    triton_loss(hidden, weight, torch.full((9,), -100), **options).backward()
    assert all((each.grad == 0).all() for each in (hidden, weight, bias))


def test_the_loss_works_without_triton():
    code = """
import sys
sys.modules["triton"] = None
import torch
from thresher.lm import linear_selfish_cross_entropy
x, w, t = torch.randn(3, 4), torch.randn(5, 4), torch.tensor([0, 1, 2])
assert linear_selfish_cross_entropy(x, w, t, margin=2.0).isfinite()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_implementation_is_an_error():
    hidden, weight, _, target = random_case()
    with pytest.raises(ValueError, match="'chunked', 'triton' or None, got 'cuda'"):
        linear_selfish_cross_entropy(hidden, weight, target, margin=1.0, implementation="cuda")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_default_implementation_on_a_cpu_is_chunked(dtype):
    hidden, weight, _, target = random_case(dtype=dtype)
    expected = linear_selfish_cross_entropy(
        hidden, weight, target, margin=1.0, implementation="chunked"
    )
    assert torch.equal(linear_selfish_cross_entropy(hidden, weight, target, margin=1.0), expected)
