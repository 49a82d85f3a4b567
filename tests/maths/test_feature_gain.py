import itertools
import math

import pytest
import torch
from scipy.optimize import minimize_scalar

from thresher.maths import feature_gain
from thresher.maths.feature_functions import outer_features
from thresher.maths.feature_gain import feature_gains, select_features
from thresher.maths.loglinear import LogLinear, fit_log_linear


def planted(items=150, seed=0):
    """Eight features; the classes depend on features 5 (strongly) and 2 (weakly) alone."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(items, 3, 8, generator=generator, dtype=torch.float64)
    logits = 2.0 * features[:, :, 5] + 0.7 * features[:, :, 2]
    return features, torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]


def gain_by_search(model, features, target, place):
    def objective(alpha):
        weight = model.weight.clone()
        weight[place] += alpha
        return LogLinear(weight, model.penalty).objective(features, target)

    bracket = (0.0, -float(model.weight[place]))
    return objective(0) - minimize_scalar(objective, bracket=bracket, tol=1e-12).fun


@pytest.mark.parametrize("penalty", [0.0, 1e-2])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("astray", [1.0, 9.0, 3000.0])  # a bare Newton step would leave for good
def test_gains_equal_those_of_a_search_over_one_weight(penalty, sparse, astray):
    features, target = planted()
    weight = torch.linspace(-astray, astray, 8, dtype=torch.float64)
    model = LogLinear(weight, penalty)
    gains = feature_gains(model, features.to_sparse() if sparse else features, target)
    searched = [gain_by_search(model, features, target, place) for place in range(8)]
    assert gains.tolist() == pytest.approx(searched, abs=1e-8)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_gains_do_not_depend_on_the_scale_of_a_feature(factor):
    features, target = planted()
    model = LogLinear(torch.zeros(8, dtype=torch.float64), 0.0)
    torch.testing.assert_close(
        feature_gains(model, factor * features, target), feature_gains(model, features, target)
    )


def test_gains_are_zero_at_the_fit_and_for_uninformative_features():
    features, target = planted()
    features[:, :, 0] = 0
    features[:, :, 1] = 3  # the same for every class
    model = fit_log_linear(features, target, penalty=0)
    assert feature_gains(model, features, target).abs().max() < 1e-9


def test_the_gain_of_a_feature_of_only_one_class_is_finite():
    features = torch.zeros(4, 2, 1, dtype=torch.float64)
    features[:2, 1] = 1  # fires on two items, which have class 1; the others are undecided
    target = torch.tensor([1, 1, 0, 1])
    model = LogLinear(torch.zeros(1, dtype=torch.float64), 0.0)
    assert feature_gains(model, features, target).item() == pytest.approx(math.log(2) / 2, abs=1e-9)


def test_gains_do_not_depend_on_the_block_size(monkeypatch):
    features, target = planted()
    model = LogLinear(torch.zeros(8, dtype=torch.float64), 1e-3)
    together = feature_gains(model, features, target)
    monkeypatch.setattr(feature_gain, "BLOCK_VALUES", 3 * 150 * 3)
    torch.testing.assert_close(feature_gains(model, features, target), together)


@pytest.mark.parametrize("sparse", [False, True])
def test_informative_features_are_added_first_and_gains_are_differences_of_fits(sparse):
    features, target = planted()
    given = features.to_sparse() if sparse else features
    selection = select_features(given, target, penalty=1e-3, count=3)
    assert selection.chosen[:2] == (5, 2)
    objectives = [math.log(3)]  # with no feature all classes are equal
    for count in (1, 2, 3):
        places = list(selection.chosen[:count])
        model = fit_log_linear(features[:, :, places], target, penalty=1e-3)
        objectives.append(model.objective(features[:, :, places], target))
    differences = [a - b for a, b in itertools.pairwise(objectives)]
    assert selection.gains == pytest.approx(differences, abs=1e-9)
    torch.testing.assert_close(selection.model.weight[places], model.weight, atol=1e-6, rtol=1e-6)
    assert selection.model.weight.count_nonzero() == 3


def test_selecting_all_features_is_the_full_fit():
    features, target = planted()
    selection = select_features(features, target, penalty=1e-2, count=8)
    full = fit_log_linear(features, target, penalty=1e-2)
    torch.testing.assert_close(selection.model.weight, full.weight, atol=1e-6, rtol=1e-6)
    assert sorted(selection.chosen) == list(range(8))
    assert min(selection.gains) >= 0


def test_selection_stops_below_the_minimum_gain():
    features, target = planted()
    selection = select_features(features, target, penalty=1e-3, count=8, min_gain=0.02)
    assert set(selection.chosen) == {2, 5}
    assert min(selection.gains) > 0.02
    nothing = select_features(torch.zeros_like(features), target, penalty=1e-3, count=8)
    assert nothing.chosen == ()
    assert nothing.model.weight.tolist() == [0] * 8


@pytest.mark.parametrize("seed", range(5))
def test_no_feature_is_selected_twice_despite_rounding(seed):
    features, target = planted(seed=seed)
    features[:, :, :5] = 0
    selection = select_features(features, target, penalty=1e-3, count=8, min_gain=-1.0)
    assert sorted(selection.chosen) == list(range(8))


def test_a_count_of_zero_selects_nothing():
    features, target = planted()
    assert select_features(features, target, penalty=1e-3, count=0).chosen == ()


def test_indicative_words_are_selected():
    x = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]] * 5).double()
    target = torch.tensor([0, 0, 1, 1] * 5)
    selection = select_features(outer_features(x, 2), target, penalty=0.1, count=2)
    assert {place % 3 for place in selection.chosen} == {0, 2}  # word 1 tells nothing


@pytest.mark.parametrize("count", [-1, 9])
def test_a_count_out_of_range_is_refused(count):
    features, target = planted()
    with pytest.raises(ValueError, match=f"`count` must be in 0 … 8, got {count}"):
        select_features(features, target, penalty=1e-3, count=count)


def test_targets_out_of_range_are_refused():
    features, _ = planted()
    with pytest.raises(ValueError, match=r"`target` must be in 0 … 2, got 3 … 5"):
        select_features(features, torch.tensor([3, 5] * 75), penalty=1.0, count=1)
