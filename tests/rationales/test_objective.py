"""Each expected term is the mean of samples, with the gradient of finite differences."""

import pytest
import torch

from thresher.maths.gate_forms import GATE_FORMS, gate
from thresher.rationales.objective import expected_terms

OWNER = torch.tensor([0, 0, 0, 1, 2, 2])  # texts of three words, one and two
LENGTHS = [3, 1, 2]
EVERY_FORM = pytest.mark.parametrize("form", sorted(GATE_FORMS))


def gates(form, *, seed=0):
    noise = torch.Generator().manual_seed(seed)
    a, b = torch.rand(2, len(OWNER), generator=noise, dtype=torch.float64) * 3 + 0.3
    return gate(form, a, b)


@EVERY_FORM
def test_terms_equal_the_mean_over_samples(form):
    distribution = gates(form)
    z = distribution.sample((40_000,), generator=torch.Generator().manual_seed(1))
    is_open = z > 0 if form == "stretched" else z > 0.5
    rows = is_open.double().split(LENGTHS, dim=1)
    fraction = torch.stack([row.mean(1) for row in rows]).mean()
    turns = torch.stack([row.diff(dim=1).abs().sum(1) / row.shape[1] for row in rows]).mean()
    terms = expected_terms(distribution, OWNER, rate=0.3)
    assert float(terms["sparsity"]) == pytest.approx(float(fraction), abs=5e-3)
    assert float(terms["continuity"]) == pytest.approx(float(turns), abs=5e-3)
    assert float(terms["selection"]) == pytest.approx(float((z.mean() - 0.3).abs()), abs=5e-3)


@EVERY_FORM
def test_gradients_of_every_term_are_those_of_finite_differences(form):
    noise = torch.Generator().manual_seed(3)
    a, b = torch.rand(2, len(OWNER), generator=noise, dtype=torch.float64) * 3 + 0.5
    prior = torch.tensor([0.9, torch.nan, 0.1, torch.nan, torch.nan, 0.2], dtype=torch.float64)

    def terms(a, b):
        found = expected_terms(gate(form, a, b), OWNER, rate=0.2, prior=prior)
        return tuple(found.values())

    assert torch.autograd.gradcheck(terms, (a.requires_grad_(), b.requires_grad_()))


def test_without_a_rate_or_prior_there_is_no_selection_term():
    assert set(expected_terms(gates("thresholded"), OWNER)) == {"sparsity", "continuity"}
