import math

import numpy as np
import pytest
import scipy.special
import torch

from thresher.maths.quadrature import exponential_rule, unit_interval_rule

DOUBLE = torch.zeros((), dtype=torch.float64)


@pytest.mark.parametrize("degree", [0, 1, 2, 17, 62, 63])
def test_unit_interval_rule_is_exact_for_polynomials_below_degree_64(degree):
    x, weights = unit_interval_rule(DOUBLE, ndim=0)
    assert float((weights * x**degree).sum()) == pytest.approx(1 / (degree + 1), rel=1e-14)


def test_unit_interval_rule_integrates_a_smooth_function_to_rounding_error():
    x, weights = unit_interval_rule(DOUBLE, ndim=0)
    assert float((weights * torch.exp(x)).sum()) == pytest.approx(math.e - 1, rel=1e-15)


@pytest.mark.parametrize("power", [0.0, 0.1, 0.5, 1.0, 3.7])
def test_exponential_rule_gives_the_gamma_function(power):
    log_e, weights = exponential_rule(DOUBLE, ndim=0)
    total = float((weights * torch.exp(power * log_e)).sum())
    assert total == pytest.approx(scipy.special.gamma(power + 1), rel=1e-10)


def test_exponential_rule_integrates_a_logarithm_at_zero():
    log_e, weights = exponential_rule(DOUBLE, ndim=0)
    assert float((weights * log_e).sum()) == pytest.approx(-np.euler_gamma, rel=1e-11)


@pytest.mark.parametrize("rule", [unit_interval_rule, exponential_rule])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nodes_have_dtype_and_trailing_dimensions(rule, dtype):
    nodes, weights = rule(torch.zeros((), dtype=dtype), ndim=2)
    assert nodes.shape == weights.shape == (len(nodes), 1, 1)
    assert nodes.dtype == weights.dtype == dtype
    assert float(weights.sum()) == pytest.approx(1, rel=1e-6)
    assert (weights > 0).all()
