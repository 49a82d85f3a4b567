import math

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression

from thresher.maths.feature_functions import (
    as_matrix,
    binary_features,
    mean_features,
    outer_features,
)
from thresher.maths.information import entropy
from thresher.maths.loglinear import LogLinear, fit_binary_classifiers, fit_log_linear
from thresher.maths.separability import SeparableDataError, separating_direction
from thresher.maths.softmax import softmax

PENALTIES = pytest.mark.parametrize("penalty", [0.0, 1e-4, 1e-2, 1.0])


def sample(items=200, width=4, classes=3, *, seed=0, scale=1.0):
    """Items whose labels are drawn from a log-linear model, so that no weights separate them."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(items, width, generator=generator, dtype=torch.float64)
    theta = scale * torch.randn(classes, width, generator=generator, dtype=torch.float64)
    target = torch.multinomial((x @ theta.T).softmax(1), 1, generator=generator)[:, 0]
    return x, target


def onehot(target, classes):
    return torch.nn.functional.one_hot(target, classes).double()


def random_features(items=60, classes=3, width=5, seed=0):
    """Feature functions of no particular form, a third of them zero."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(items, classes, width, generator=generator, dtype=torch.float64)
    features[torch.rand(features.shape, generator=generator) < 1 / 3] = 0
    return features, torch.randint(classes, (items,), generator=generator)


# Feature functions


@pytest.mark.parametrize("sparse", [False, True])
def test_outer_features_give_each_class_its_own_weights(sparse):
    x, _ = sample(items=6)
    theta = torch.randn(3, 4, dtype=torch.float64)
    features = outer_features(x.to_sparse() if sparse else x, 3)
    assert features.shape == (6, 3, 12)
    torch.testing.assert_close(features.to_dense() @ theta.flatten(), x @ theta.T)
    assert features.coalesce().values().numel() == 6 * 3 * 4


def test_binary_features_make_the_softmax_a_sigmoid():
    x, _ = sample(items=6)
    weight = torch.randn(4, dtype=torch.float64)
    scores = binary_features(x).to_dense() @ weight
    torch.testing.assert_close(softmax(scores)[:, 1], torch.sigmoid(x @ weight))


def test_a_matrix_of_features_has_a_row_for_each_item_and_class():
    features, _ = random_features()
    expected = features.reshape(-1, 5)
    assert torch.equal(as_matrix(features), expected)
    assert torch.equal(as_matrix(features.to_sparse()).to_dense(), expected)
    assert as_matrix(features.float()).dtype == torch.float64


def test_mean_features_are_expectations():
    features, target = random_features()
    shown = sum(features[i, y] for i, y in enumerate(target.tolist())) / len(target)
    torch.testing.assert_close(mean_features(features, onehot(target, 3)), shown)
    torch.testing.assert_close(mean_features(features.to_sparse(), onehot(target, 3)), shown)
    uniform = torch.full((60, 3), 1 / 3)
    torch.testing.assert_close(mean_features(features, uniform), features.mean((0, 1)))


# The optimum


@PENALTIES
@pytest.mark.parametrize("sparse", [False, True])
def test_mean_features_of_data_exceed_the_models_by_penalty_times_weight(penalty, sparse):
    features, target = random_features()
    given = features.to_sparse() if sparse else features
    model = fit_log_linear(given, target, penalty=penalty)
    shown = mean_features(features, onehot(target, 3))
    expected = mean_features(features, model.log_prob(given).exp())
    torch.testing.assert_close(shown - expected, penalty * model.weight, atol=1e-7, rtol=0)


@pytest.mark.parametrize("penalty", [1e-3, 1e-2, 1.0])
def test_it_agrees_with_scikit_learn(penalty):
    x, target = sample()
    model = fit_log_linear(outer_features(x, 3), target, penalty=penalty)
    peer = LogisticRegression(
        C=1 / (penalty * len(target)), fit_intercept=False, tol=1e-12, max_iter=10_000
    ).fit(x.numpy(), target.numpy())
    torch.testing.assert_close(
        model.weight.view(3, 4), torch.from_numpy(peer.coef_), atol=1e-6, rtol=1e-6
    )
    torch.testing.assert_close(
        model.log_prob(outer_features(x, 3)).exp(),
        torch.from_numpy(peer.predict_proba(x.numpy())),
        atol=1e-6,
        rtol=0,
    )


def test_without_penalty_it_agrees_with_scikit_learn_up_to_a_shift():
    x, target = sample()
    weight = fit_log_linear(outer_features(x, 3), target, penalty=0).weight.view(3, 4)
    peer = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000)
    coefficients = torch.from_numpy(peer.fit(x.numpy(), target.numpy()).coef_)
    torch.testing.assert_close(
        weight - weight.mean(0), coefficients - coefficients.mean(0), atol=1e-5, rtol=1e-5
    )


def test_the_model_has_the_largest_entropy_for_its_mean_features():
    features, target = random_features(items=12)
    p = fit_log_linear(features, target, penalty=0).log_prob(features).exp()
    # Directions that keep every row's sum and every expected feature: the null space of both.
    keeps_sums = torch.kron(torch.eye(12), torch.ones(1, 3)).double()
    constraints = torch.cat([keeps_sums, as_matrix(features).T])
    *_, right = torch.linalg.svd(constraints)
    directions = right[torch.linalg.matrix_rank(constraints) :].view(-1, 12, 3)
    assert len(directions) == 36 - 12 - 5
    for direction in directions:
        step = 0.5 * (p / direction.abs().clamp_min(1e-12)).min() * direction
        assert entropy(p + step).sum() < entropy(p).sum()
        assert entropy(p - step).sum() < entropy(p).sum()


def test_the_objective_matches_its_formula_and_is_smallest_at_the_fit():
    features, target = random_features()
    model = fit_log_linear(features, target, penalty=0.1)
    logits = features @ model.weight
    formula = torch.nn.functional.cross_entropy(logits, target) + 0.05 * model.weight.norm() ** 2
    assert model.objective(features, target) == pytest.approx(formula.item())
    for step in torch.eye(5, dtype=torch.float64) * 1e-3:
        moved = LogLinear(model.weight + step, 0.1)
        assert moved.objective(features, target) > model.objective(features, target)


@pytest.mark.parametrize("factor", [1e-12, 1e-3, 1e3, 1e12])
@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_features_of_any_scale_give_the_same_model(factor, penalty):
    features, target = random_features()
    plain = fit_log_linear(features, target, penalty=penalty)
    scaled = fit_log_linear(factor * features, target, penalty=penalty * factor**2)
    torch.testing.assert_close(scaled.weight * factor, plain.weight, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_features_of_any_scale_are_found_separable(factor):
    x = factor * torch.tensor([[1.0], [2.0], [-1.0], [-2.0]], dtype=torch.float64)
    with pytest.raises(SeparableDataError):
        fit_log_linear(outer_features(x, 2), torch.tensor([1, 1, 0, 0]), penalty=0)


def test_float32_features_and_single_items_are_fitted():
    features, target = random_features()
    single = fit_log_linear(features[:1].float(), target[:1], penalty=1.0)
    assert single.weight.dtype == torch.float64
    assert single.log_prob(features[:1]).argmax() == target[0]
    alone = fit_log_linear(features[:, :1], torch.zeros(60, dtype=torch.long), penalty=1.0)
    assert alone.weight.tolist() == [0] * 5  # one class leaves nothing to learn


def test_features_that_are_always_zero_have_weight_zero():
    features, target = random_features()
    features[:, :, 2] = 0
    assert fit_log_linear(features, target, penalty=1e-3).weight[2] == 0
    nothing = torch.zeros_like(features).to_sparse()
    assert fit_log_linear(nothing, target, penalty=0).weight.tolist() == [0] * 5


# Separable data


def some_rival_is_beaten_for_ever(features, target):
    """Decide by a linear programme: max Σ margins·d subject to margins·d ≥ 0 and |d| ≤ 1."""
    rows = as_matrix(features).to_dense()
    classes = features.shape[1]
    truth = (torch.arange(len(target)) * classes + target).repeat_interleave(classes)
    margins = (rows[truth] - rows).numpy()
    best = linprog(-margins.sum(0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1, 1))
    return -best.fun > 1e-7


def labelled_items(seed):
    """Odd seeds have words that fire rarely, and so separate a part of the items."""
    generator = torch.Generator().manual_seed(seed)
    items = int(torch.randint(5, 60, (1,), generator=generator))
    x, target = sample(items, width=3, seed=seed, scale=2.0)
    if seed % 2:
        x = torch.cat([torch.ones(items, 1), (x[:, 1:] > 1.2)], dim=1).double()
    return outer_features(x, 3), target


@pytest.mark.parametrize("seed", range(30))
def test_separable_data_are_refused_without_a_penalty_and_no_others(seed):
    features, target = labelled_items(seed)
    if not some_rival_is_beaten_for_ever(features, target):
        assert fit_log_linear(features, target, penalty=0).weight.isfinite().all()
        return
    with pytest.raises(SeparableDataError, match="give a penalty above 0") as caught:
        fit_log_linear(features, target, penalty=0)
    scores = (as_matrix(features) @ caught.value.direction).view(-1, 3)
    margins = scores.gather(1, target[:, None]) - scores
    assert margins.max() > 0
    assert margins.min() >= -1e-6 * margins.max()


def test_the_seeds_above_include_separable_and_other_data():
    for seeds in (range(0, 30, 2), range(1, 30, 2)):
        kinds = {some_rival_is_beaten_for_ever(*labelled_items(seed)) for seed in seeds}
        assert kinds == {True, False}


def test_separable_data_with_a_penalty_are_fitted():
    x = torch.tensor([[1.0], [2.0], [-1.0], [-2.0]], dtype=torch.float64)
    target = torch.tensor([1, 1, 0, 0])
    model = fit_log_linear(outer_features(x, 2), target, penalty=1e-3)
    assert torch.equal(model.log_prob(outer_features(x, 2)).argmax(1), target)


def test_weights_of_data_that_are_not_separable_give_no_direction():
    features, target = random_features()
    assert separating_direction(features, target, torch.zeros(5, dtype=torch.float64)) is None


# Classes that do not exclude each other


@pytest.mark.parametrize("sparse", [False, True])
def test_binary_classifiers_agree_with_scikit_learn_class_by_class(sparse):
    x, _ = sample()
    generator = torch.Generator().manual_seed(1)
    labels = torch.rand(200, 3, generator=generator) < torch.sigmoid(x[:, :3])
    models = fit_binary_classifiers(x.to_sparse() if sparse else x, labels, penalty=1e-2)
    for model, y in zip(models, labels.unbind(1), strict=True):
        peer = LogisticRegression(C=1 / (1e-2 * 200), fit_intercept=False, tol=1e-12)
        expected = peer.fit(x.numpy(), y.numpy()).predict_proba(x.numpy())
        measured = model.log_prob(binary_features(x)).exp()
        torch.testing.assert_close(measured, torch.from_numpy(expected), atol=1e-6, rtol=0)
    positive = torch.stack([model.log_prob(binary_features(x))[:, 1].exp() for model in models])
    assert (positive.sum(0) > 1.1).any()
    assert (positive.sum(0) < 0.9).any()


@pytest.mark.parametrize("labels", [torch.tensor([[0.5], [1]]), torch.tensor([0, 1])])
def test_labels_that_are_not_binary_are_refused(labels):
    with pytest.raises(ValueError, match=r"`labels` must be \(items, classes\) of 0 and 1"):
        fit_binary_classifiers(torch.ones(2, 1), labels, penalty=1.0)


# What is refused


@pytest.mark.parametrize(
    ("shape", "target", "penalty", "message"),
    [
        ((4, 2), [0, 1, 0, 1], 1.0, r"\(items, classes, features\), none 0, got \(4, 2\)"),
        ((0, 2, 3), [], 1.0, r"none 0, got \(0, 2, 3\)"),
        ((2, 2, 0), [0, 1], 1.0, r"none 0, got \(2, 2, 0\)"),
        ((2, 2, 1), [0, 1, 1], 1.0, r"`target` must be \(2,\) of torch.int64"),
        ((2, 2, 1), [0.0, 1.0], 1.0, r"got \(2,\) of torch.float32"),
        ((2, 2, 1), [0, 2], 1.0, r"`target` must be in 0 … 1, got 0 … 2"),
        ((2, 2, 1), [-1, 0], 1.0, r"got -1 … 0"),
        ((2, 2, 1), [0, 1], -1.0, "`penalty` must be at least 0 and finite, got -1.0"),
        ((2, 2, 1), [0, 1], math.inf, "`penalty` must be at least 0 and finite, got inf"),
    ],
)
def test_invalid_arguments_are_refused(shape, target, penalty, message):
    with pytest.raises(ValueError, match=message):
        fit_log_linear(torch.ones(shape), torch.tensor(target), penalty=penalty)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_are_not_finite_are_refused(value, sparse):
    features, target = random_features()
    features[3, 1, 2] = value
    with pytest.raises(ValueError, match=f"`features` must be finite, got {value}"):
        fit_log_linear(features.to_sparse() if sparse else features, target, penalty=1.0)


def test_inputs_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"`x` must be \(items, width\), got \(3,\)"):
        outer_features(torch.ones(3), 2)
    with pytest.raises(ValueError, match=r"\(items, classes, features\), got \(3,\)"):
        as_matrix(torch.ones(3))


def test_a_search_that_finds_no_minimum_raises(monkeypatch):
    monkeypatch.setattr("thresher.maths.loglinear.MAX_STEPS", 1)
    features, target = random_features()
    with pytest.raises(RuntimeError, match=r"in 1 steps: the gradient is 0\."):
        fit_log_linear(features, target, penalty=1e-4)
