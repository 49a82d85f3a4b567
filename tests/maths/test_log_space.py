import mpmath
import numpy as np
import pytest
import torch

from thresher.maths.log_space import log1mexp, log_complement, loglog_complement

EXACT = {
    log1mexp: lambda x: mpmath.log(-mpmath.expm1(x)),
    log_complement: lambda x: mpmath.log(-mpmath.expm1(-mpmath.exp(x))),
    loglog_complement: lambda x: mpmath.log(-mpmath.log1p(-mpmath.exp(-mpmath.exp(x)))),
}
POINTS = {
    log1mexp: [-600.0, -40.0, -1.0, -0.694, -0.693, -0.5, -1e-5, -1e-30],
    log_complement: [-1e4, -80.0, -40.001, -39.999, -7.0, -1.0, -0.001, 0.001, 1.0, 3.0, 4.0],
    loglog_complement: [-80.0, -40.001, -39.999, -7.0, -1.0, -0.001, 0.001, 2.0, 2.999, 3.001, 4.0],
}
FUNCTIONS = pytest.mark.parametrize("function", list(EXACT), ids=lambda f: f.__name__)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


@FUNCTIONS
@DTYPES
def test_values_match_exact_arithmetic(function, dtype):
    if dtype == torch.float32:  # e^−600 is not even a float32 denormal, and 0 is then right
        points = torch.tensor([x for x in POINTS[function] if x > -600], dtype=dtype)
    else:
        points = torch.tensor(POINTS[function], dtype=dtype)
    with mpmath.workdps(400):
        exact = [float(EXACT[function](mpmath.mpf(x))) for x in points.tolist()]
    # exp(−exp 4) multiplies the rounding of its argument by exp 4 = 55.
    np.testing.assert_allclose(function(points), exact, rtol=32 * torch.finfo(dtype).eps)


@FUNCTIONS
def test_gradients_match_finite_differences_on_both_sides_of_every_branch(function):
    points = [x for x in POINTS[function] if -100 < x < -1e-3 or x >= 0]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (x,), eps=1e-7, atol=1e-6)


@FUNCTIONS
@DTYPES
def test_gradients_are_finite_where_values_are(function, dtype):
    x = torch.tensor(POINTS[function], dtype=dtype, requires_grad=True)
    function(x).sum().backward()
    assert torch.isfinite(x.grad).all()


@DTYPES
def test_the_complement_of_the_complement_is_the_number_itself(dtype):
    x = torch.linspace(-80, 4, 500, dtype=dtype)
    np.testing.assert_allclose(
        loglog_complement(loglog_complement(x)), x, rtol=0, atol=300 * torch.finfo(dtype).eps
    )


def test_the_ends_of_the_unit_interval_are_exchanged():
    infinity = torch.tensor([torch.inf, -torch.inf])
    assert loglog_complement(infinity).tolist() == [-torch.inf, torch.inf]
    assert log_complement(infinity).tolist() == [0.0, -torch.inf]
    assert log1mexp(torch.tensor([0.0, -torch.inf])).tolist() == [-torch.inf, 0.0]


@FUNCTIONS
def test_empty_input_gives_empty_output(function):
    assert function(torch.empty(0, 3)).shape == (0, 3)
