import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.maths.information import cross_entropy, entropy
from thresher.maths.softmax import log_softmax, softmax

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
BOTH = pytest.mark.parametrize("function", [softmax, lambda *a, **k: log_softmax(*a, **k).exp()])

logit_lists = st.lists(st.floats(-50, 50), min_size=2, max_size=6)
temperatures = st.floats(0.05, 20)


def double(*values):
    return torch.tensor(values, dtype=torch.float64)


def random_logits(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


# Its formula


@BOTH
@settings(deadline=None)
@given(logits=logit_lists, temperature=temperatures)
def test_it_matches_its_formula(function, logits, temperature):
    peak = max(logits)
    powers = double(*(math.exp((z - peak) / temperature) for z in logits))
    measured = function(double(*logits), temperature=temperature)
    torch.testing.assert_close(measured, powers / powers.sum(), atol=1e-12, rtol=1e-9)


def test_it_works_along_dim():
    z = random_logits(3, 4, 5)
    torch.testing.assert_close(softmax(z, dim=1).sum(1), torch.ones_like(z[:, 0]))
    torch.testing.assert_close(softmax(z, dim=1), softmax(z.movedim(1, -1)).movedim(-1, 1))
    assert softmax(torch.empty(0, 4)).shape == (0, 4)
    assert softmax(torch.randn(3, 1)).tolist() == [[1], [1], [1]]


@pytest.mark.parametrize("function", [softmax, log_softmax])
def test_gradients_agree_with_finite_differences(function):
    z = random_logits(2, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: function(z, temperature=0.7), z)
    ties = double(1, 1, 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: function(z, temperature=0.7), ties)


# Its promises


@settings(deadline=None)
@given(logits=logit_lists, temperature=temperatures)
def test_it_is_monotone(logits, temperature):
    z = double(*logits)
    p = softmax(z, temperature=temperature)
    order = z.argsort()
    assert (p[order].diff() >= 0).all()
    raised = z + double(1, *[0] * (len(logits) - 1))
    assert softmax(raised, temperature=temperature)[0] >= p[0]


@settings(deadline=None)
@given(logits=logit_lists, shift=st.floats(-1e3, 1e3), temperature=temperatures)
def test_it_is_invariant_to_translation(logits, shift, temperature):
    z = double(*logits)
    torch.testing.assert_close(
        softmax(z + shift, temperature=temperature),
        softmax(z, temperature=temperature),
        atol=1e-10,
        rtol=1e-10,
    )


def test_scaling_the_logits_is_a_temperature():
    z = double(0, 1, 3)
    assert (softmax(3 * z) - softmax(z)).abs().max() > 0.05
    torch.testing.assert_close(softmax(3 * z), softmax(z, temperature=1 / 3))


def test_parameters_minus_any_vector_are_the_same_model_so_minima_are_not_unique():
    theta, psi, x = random_logits(4, 3), random_logits(3, seed=1), random_logits(6, 3, seed=2)
    target = torch.tensor([0, 1, 2, 3, 0, 1])

    def loss(parameters):
        return torch.nn.functional.cross_entropy(x @ parameters.T, target)

    torch.testing.assert_close(softmax(x @ (theta - psi).T), softmax(x @ theta.T))
    torch.testing.assert_close(loss(theta - psi), loss(theta))
    gradient = torch.func.grad(loss)
    torch.testing.assert_close(gradient(theta - psi), gradient(theta))


@settings(deadline=None)
@given(logits=logit_lists, pair=st.tuples(temperatures, temperatures))
def test_entropy_rises_with_temperature(logits, pair):
    low, high = sorted(pair)
    z = double(*logits)
    assert entropy(softmax(z, temperature=low)) <= entropy(softmax(z, temperature=high)) + 1e-9


def test_low_temperature_gives_the_argmax_and_high_temperature_uniform():
    z = double(1, 3, 2)
    argmax, uniform = double(0, 1, 0), double(1, 1, 1) / 3
    to_argmax = [(softmax(z, temperature=t) - argmax).abs().max() for t in (1, 0.5, 0.1, 0.02)]
    to_uniform = [(softmax(z, temperature=t) - uniform).abs().max() for t in (1, 10, 100, 1e6)]
    assert to_argmax == sorted(to_argmax, reverse=True)
    assert to_uniform == sorted(to_uniform, reverse=True)
    assert max(to_argmax[-1], to_uniform[-1]) < 1e-5


@DTYPES
@pytest.mark.parametrize("temperature", [0.0, 5e-324, 1e-300, 1e-42])
def test_at_temperature_zero_exact_ties_are_equal(dtype, temperature):
    z = torch.tensor([[1, 3, 3], [5, 4, 4]], dtype=dtype)
    assert softmax(z, temperature=temperature).tolist() == [[0, 0.5, 0.5], [1, 0, 0]]
    expected = [[-math.inf, math.log(0.5), math.log(0.5)], [0, -math.inf, -math.inf]]
    for measured, row in zip(log_softmax(z, temperature=0).tolist(), expected, strict=True):
        assert measured == pytest.approx(row)


@DTYPES
@pytest.mark.parametrize("temperature", [math.inf, 1e300])
def test_at_infinite_temperature_possible_classes_are_equal(dtype, temperature):
    z = torch.tensor([1, -math.inf, 3e38], dtype=dtype)
    assert softmax(z, temperature=temperature).tolist() == [0.5, 0, 0.5]


def test_the_limits_have_no_gradient():
    for temperature in (0.0, math.inf):
        z = double(1, 2).requires_grad_()
        p = softmax(z, temperature=temperature)
        assert not p.requires_grad or torch.autograd.grad(p[0], z)[0].eq(0).all()


@DTYPES
def test_huge_logits_neither_overflow_nor_lose_the_gradient(dtype):
    huge = torch.finfo(dtype).max
    z = torch.tensor([huge, huge, -huge], dtype=dtype, requires_grad=True)
    p = softmax(z, temperature=0.5)
    assert p.tolist() == [0.5, 0.5, 0]
    p[0].backward()
    torch.testing.assert_close(z.grad, torch.tensor([0.5, -0.5, 0], dtype=dtype))
    far = torch.tensor([1e4, 0.0], dtype=dtype)
    assert log_softmax(far).tolist() == [0, -1e4]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_accurate_up_to_rounding(dtype):
    z = random_logits(4, 30).to(dtype)
    measured = softmax(z, temperature=0.01)
    assert measured.dtype == dtype
    assert torch.equal(measured, softmax(z.double(), temperature=0.01).to(dtype))
    assert log_softmax(z).dtype == dtype


# Its loss and its regions


def test_the_gradient_of_the_loss_is_p_minus_y_times_x():
    theta = random_logits(4, 3).requires_grad_()
    x = random_logits(3, seed=1)
    y = double(0, 0, 1, 0)
    p = softmax(theta @ x)
    cross_entropy(y, p, base=math.e).backward()
    torch.testing.assert_close(theta.grad, torch.outer(p.detach() - y, x))


def test_regions_are_convex_with_linear_boundaries():
    theta = random_logits(5, 3)
    points = 3 * random_logits(2, 400, 2, seed=1)
    x = torch.cat([points, torch.ones(2, 400, 1)], dim=-1).double()  # the last weight is a bias
    start, end = softmax(x @ theta.T).argmax(-1)
    between = x[0] + torch.rand(7, 400, 1, dtype=torch.float64) * (x[1] - x[0])
    inside = softmax(between @ theta.T).argmax(-1)
    same = start == end
    assert same.sum() > 50
    assert (inside[:, same] == start[same]).all()
    # On the line (θ_a − θ_b)·x = 0 the two classes are equally likely.
    normal = theta[0] - theta[1]
    on_line = x[0] - (x[0] @ normal)[:, None] * normal / normal.square().sum()
    p = softmax(on_line @ theta.T)
    torch.testing.assert_close(p[:, 0], p[:, 1])


def test_with_a_bias_of_half_the_squared_length_regions_are_voronoi_cells():
    theta, x = random_logits(6, 2), 2 * random_logits(500, 2, seed=1)
    p = softmax(x @ theta.T - theta.square().sum(1) / 2)
    assert torch.equal(p.argmax(1), torch.cdist(x, theta).argmin(1))


# What is refused


@pytest.mark.parametrize("function", [softmax, log_softmax])
@pytest.mark.parametrize("temperature", [-1.0, -math.inf, math.nan])
def test_a_negative_temperature_is_refused(function, temperature):
    with pytest.raises(ValueError, match="`temperature` must be at least 0"):
        function(double(1, 2), temperature=temperature)


def test_integer_logits_are_refused():
    with pytest.raises(TypeError, match=r"floating-point tensor, got torch.int64"):
        softmax(torch.tensor([1, 2]))
