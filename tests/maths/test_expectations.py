import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from thresher.maths import expectation_dual as dual
from thresher.maths.expectation_dual import Problem, solve
from thresher.maths.expectations import (
    ContradictoryExpectationsError,
    maximum_entropy,
)
from thresher.maths.information import entropy


def items(count, *firing):
    """A feature of `count` items that fires on the given ones."""
    feature = torch.zeros(count, dtype=torch.bool)
    feature[list(firing)] = True
    return feature


def random_table(seed, count=40, width=4):
    generator = torch.Generator().manual_seed(seed)
    density = torch.rand(width, generator=generator)
    table = torch.rand(count, width, generator=generator) < density
    table[0] = True  # so that every feature fires
    return table


def named(table):
    return {f"f{k}": column for k, column in enumerate(table.unbind(1))}


def can_be_met(table, rates):
    """Decide by a linear programme with one variable per item."""
    weights = table.double() / table.double().sum(0)
    programme = linprog(
        np.zeros(len(table)),
        A_eq=weights.T.numpy(),
        b_eq=np.array(list(rates)),
        bounds=(0, 1),
        options={"primal_feasibility_tolerance": 1e-10},
    )
    return programme.status == 0


def met(solution, features, rates):
    return [solution.probability[features[name].bool()].mean().item() for name in rates]


# Closed forms


def test_one_feature_gives_its_items_their_rate_and_the_others_a_half():
    solution = maximum_entropy({"capital": items(6, 0, 1, 2)}, {"capital": 0.85})
    assert solution.probability.tolist() == pytest.approx([0.85] * 3 + [0.5] * 3)
    assert solution.weights == pytest.approx({"capital": math.log(0.85 / 0.15)})


def test_an_overall_rate_alone_is_the_rate_of_every_item():
    solution = maximum_entropy(torch.zeros(5, 0), {}, overall=0.12)
    assert solution.probability.tolist() == pytest.approx([0.12] * 5)


def test_the_overall_rate_includes_the_items_with_a_feature():
    features = {"capital": items(10, 0, 1)}
    solution = maximum_entropy(features, {"capital": 0.75}, overall=0.3)
    assert solution.probability.tolist() == pytest.approx([0.75] * 2 + [1.5 / 8] * 8)


def test_features_without_common_items_are_independent():
    features = {"a": items(6, 0, 1), "b": items(6, 2, 3)}
    solution = maximum_entropy(features, {"a": 0.9, "b": 0.2})
    assert solution.probability.tolist() == pytest.approx([0.9, 0.9, 0.2, 0.2, 0.5, 0.5])


def test_without_expectations_all_probabilities_are_a_half():
    features = {"a": items(3, 0), "ignored": items(3)}
    solution = maximum_entropy(features, {})
    assert solution.probability.tolist() == [0.5] * 3
    assert solution.weights == {}
    assert maximum_entropy({"a": items(0)}, {}).probability.tolist() == []


# The optimum


@pytest.mark.parametrize("seed", range(8))
def test_it_agrees_with_a_direct_search_for_the_largest_entropy(seed):
    table = random_table(seed, count=12, width=3)
    p = torch.rand(12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weights = (table / table.sum(0)).double().T
    rates = weights @ (0.2 + 0.6 * p)

    def negative_entropy(p):
        coins = torch.from_numpy(np.stack([p, 1 - p], -1))
        return -entropy(coins).sum().item()

    found = minimize(
        negative_entropy,
        np.full(12, 0.5),
        jac=lambda p: -np.log2((1 - p) / p),
        bounds=[(1e-9, 1 - 1e-9)] * 12,
        constraints={"type": "eq", "fun": lambda p: weights.numpy() @ p - rates.numpy()},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    features = named(table)
    solution = maximum_entropy(features, dict(zip(features, rates.tolist(), strict=True)))
    assert solution.probability.tolist() == pytest.approx(found.x.tolist(), abs=1e-4)
    coins = torch.stack([solution.probability, 1 - solution.probability], -1)
    assert entropy(coins).sum().item() >= -found.fun - 1e-7


@pytest.mark.parametrize("seed", range(8))
def test_rates_are_met_by_independent_labels_of_the_exponential_family(seed):
    table = random_table(seed, width=5)
    truth = torch.rand(40, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    features = named(table)
    rates = {name: truth[column].mean().item() for name, column in features.items()}
    solution = maximum_entropy(features, rates, overall=truth.mean().item())
    assert met(solution, features, rates) == pytest.approx(list(rates.values()), abs=1e-8)
    assert solution.probability.mean().item() == pytest.approx(truth.mean().item(), abs=1e-8)
    logits = solution.weights["overall"] + sum(
        solution.weights[name] * column.double() for name, column in features.items()
    )
    torch.testing.assert_close(solution.probability, torch.sigmoid(logits))


def test_the_same_expectation_twice_changes_nothing():
    features = {"a": items(6, 0, 1), "again": items(6, 0, 1), "b": items(6, 1, 2)}
    once = maximum_entropy(features, {"a": 0.3, "b": 0.6})
    twice = maximum_entropy(features, {"a": 0.3, "again": 0.3, "b": 0.6})
    torch.testing.assert_close(once.probability, twice.probability, atol=1e-8, rtol=0)


@pytest.mark.parametrize("rate", [1e-6, 1 - 1e-6])
def test_rates_near_certainty_are_met(rate):
    features = {"a": items(1000, *range(500)), "b": items(1000, *range(250, 750))}
    solution = maximum_entropy(features, {"a": rate, "b": 0.5}, overall=0.5)
    assert met(solution, features, ["a", "b"]) == pytest.approx([rate, 0.5], abs=1e-8)


# Certainty


def test_rates_of_zero_and_one_fix_their_items_exactly_and_the_rest_is_solved():
    features = {"name": items(8, 0, 1), "stop": items(8, 2, 3), "both": items(8, 1, 2, 4, 5)}
    solution = maximum_entropy(features, {"name": 1, "stop": 0, "both": 0.5}, overall=0.4)
    p = solution.probability.tolist()
    assert p[:4] == [1, 1, 0, 0]
    assert p[4:6] == pytest.approx([0.5, 0.5])  # 2 of 4 expected, and item 1 is one of them
    assert p[6:] == pytest.approx([0.1, 0.1])  # 3.2 of 8 expected
    assert set(solution.weights) == {"both", "overall"}


def test_items_determined_by_other_items_are_fixed():
    features = {"a": items(4, 0, 1), "b": items(4, 0, 1, 2, 3)}
    solution = maximum_entropy(features, {"a": 1, "b": 0.5})
    assert solution.probability.tolist() == [1, 1, 0, 0]
    assert solution.weights == {}


def test_items_forced_by_several_rates_together_are_within_the_tolerance():
    features = {"inner": items(20, *range(10)), "outer": items(20, *range(20))}
    solution = maximum_entropy(features, {"inner": 0.5, "outer": 0.25})
    assert solution.probability[:10].tolist() == pytest.approx([0.5] * 10, abs=1e-7)
    assert solution.probability[10:].max() < 1e-7


# Contradictions


def test_a_contradiction_names_the_expectations_that_conflict():
    features = {
        "digit": items(100, *range(50, 60)),
        "capital": items(100, *range(20)),
        "hyphen": items(100, *range(90, 95)),
    }
    rates = {"digit": 0.1, "capital": 0.85, "hyphen": 0.3}
    with pytest.raises(ContradictoryExpectationsError) as caught:
        maximum_entropy(features, rates, overall=0.12)
    assert caught.value.conflict == ("capital", "overall")
    assert str(caught.value) == (
        "no distribution meets these rates together: capital = 0.85 (17 of 20 items), "
        "overall = 0.12 (12 of 100 items); change one"
    )


@pytest.mark.parametrize(
    ("rates", "overall"),
    [
        ({"a": 1.0, "b": 0.0}, None),  # both fire on item 1
        ({"a": 0.3, "same": 0.4}, None),
        ({"a": 0.3, "same": 0.3 + 1e-6}, None),
        ({"all": 0.3}, 0.4),
        ({"a": 0.0, "b": 0.0, "rest": 0.5}, 0.9),
    ],
)
def test_contradictions_of_many_kinds_are_found(rates, overall):
    features = {
        "a": items(6, 0, 1),
        "same": items(6, 0, 1),
        "b": items(6, 1, 2),
        "rest": items(6, 3, 4, 5),
        "all": items(6, *range(6)),
    }
    with pytest.raises(ContradictoryExpectationsError):
        maximum_entropy(features, rates, overall=overall)


@st.composite
def stated_problems(draw):
    """Some tables with rates in tenths, which often contradict or lie on the very edge."""
    table = random_table(draw(st.integers(0, 10_000)), count=draw(st.integers(2, 30)))
    return table, [draw(st.integers(0, 10)) / 10 for _ in range(4)]


@settings(max_examples=150, deadline=None)
@given(stated_problems())
def test_feasibility_agrees_with_linear_programming_and_conflicts_are_minimal(problem):
    table, rates = problem
    expected = {f"f{k}": rate for k, rate in enumerate(rates)}
    if can_be_met(table, rates):
        solution = maximum_entropy(named(table), expected)
        assert met(solution, named(table), expected) == pytest.approx(rates, abs=1e-8)
        return
    with pytest.raises(ContradictoryExpectationsError) as caught:
        maximum_entropy(named(table), expected)
    conflict = [int(name[1:]) for name in caught.value.conflict]
    assert not can_be_met(table[:, conflict], [rates[k] for k in conflict])
    for fewer in itertools.combinations(conflict, len(conflict) - 1):
        assert can_be_met(table[:, list(fewer)], [rates[k] for k in fewer])


def random_groups(seed, groups, features, *, twice=0, largest):
    """Return the features of random groups of items, their sizes and their probabilities.

    twice: how many of the features occur twice   largest: of the sizes, about
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape):
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    fires = uniform(groups, features) < uniform(features)
    if seed % 2:
        fires = fires.cumsum(1) > 0  # each feature inside the next
    fires = torch.unique(fires[:, fires.any(0)], dim=0).double()
    fires = torch.cat([fires, fires[:, :twice]], dim=1)
    size = (largest ** uniform(len(fires))).round()
    p = torch.where(uniform(len(fires)) < 0.5, uniform(len(fires)), uniform(len(fires)).round())
    return fires, size, p


@pytest.mark.parametrize("seed", range(60))
def test_groups_of_very_different_sizes_agree_with_linear_programming(seed):
    fires, size, p = random_groups(seed, 50, 8, largest=1e6)
    rates = (size * p) @ fires / (size @ fires)
    if seed % 3 == 1:
        rates = (1000 * rates).round() / 1000
    programme = linprog(
        np.zeros(len(size)),
        A_eq=(size[:, None] * fires / (size @ fires)).T.numpy(),
        b_eq=rates.numpy(),
        bounds=(0, 1),
        options={"primal_feasibility_tolerance": 1e-10},
    )
    solution = solve(Problem(fires, size, rates * (size @ fires)))
    assert (solution is not None) == (programme.status == 0)
    if solution is not None:
        torch.testing.assert_close((size * solution[0]) @ fires / (size @ fires), rates)


# Seeds that a search without scaling, without shorter steps or with a coarse idea of zero fails.
@pytest.mark.parametrize("seed", [12, 56, 68, 263, 284, 594, 648])
def test_rates_taken_from_a_distribution_are_met_from_one_item_to_a_billion(seed):
    fires, size, p = random_groups(seed, 150, 20, twice=3, largest=1e9)
    solution = solve(Problem(fires, size, (size * p) @ fires))
    assert solution is not None
    missed = (size * (solution[0] - p)) @ fires / (size @ fires)
    assert missed.abs().max() < 2e-9


def test_a_search_that_does_not_converge_raises(monkeypatch):
    monkeypatch.setattr(dual, "MAX_STEPS", 1)
    with pytest.raises(RuntimeError, match="not met within 1e-09 after 1 Newton steps"):
        maximum_entropy({"a": items(2, 0)}, {"a": 0.9})


# Input


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32, torch.float64])
def test_a_table_with_names_is_the_same_as_named_features(dtype):
    table = random_table(3)
    rates = {"f2": 0.4, "f0": 0.5}
    by_name = maximum_entropy(named(table), rates)
    as_table = maximum_entropy(table.to(dtype), rates, names=["f0", "f1", "f2", "f3"])
    assert torch.equal(by_name.probability, as_table.probability)
    assert by_name.weights == as_table.weights


def test_more_features_than_bits_of_an_integer_are_distinguished():
    generator = torch.Generator().manual_seed(0)
    table = torch.rand(400, 70, generator=generator) < 0.05
    table[:200] = table[200:]  # every row twice
    table[torch.arange(70), torch.arange(70)] = True
    truth = torch.rand(400, generator=generator, dtype=torch.float64)
    features = named(table)
    rates = {name: truth[column].mean().item() for name, column in features.items()}
    solution = maximum_entropy(features, rates)
    assert met(solution, features, rates) == pytest.approx(list(rates.values()), abs=1e-8)


def test_a_million_items_are_solved_quickly():
    generator = torch.Generator().manual_seed(0)
    features = {
        f"f{k}": torch.rand(1_000_000, generator=generator) < 0.05 * (k + 1) for k in range(8)
    }
    rates = {name: 0.1 + 0.02 * k for k, name in enumerate(features)}
    solution = maximum_entropy(features, rates, overall=0.2)
    assert met(solution, features, rates) == pytest.approx(list(rates.values()), abs=1e-8)


@pytest.mark.parametrize(
    ("rates", "options", "message"),
    [
        ({"never": 0.5}, {}, r"never = 0.5 cannot be met: no item has the feature 'never'"),
        ({"other": 0.5}, {}, r"unknown feature 'other'; choose from a, never, overall"),
        ({"a": 1.5}, {}, r"a rate must be between 0 and 1, got a = 1.5"),
        ({"a": math.nan}, {}, r"got a = nan"),
        ({}, {"overall": -0.1}, r"a rate must be between 0 and 1, got overall = -0.1"),
        ({"overall": 0.5}, {"overall": 0.5}, "no feature may be called 'overall'"),
    ],
)
def test_invalid_rates_are_refused(rates, options, message):
    features = {"a": items(3, 0), "never": items(3), "overall": items(3, 1)}
    with pytest.raises(ValueError, match=message):
        maximum_entropy(features, rates, **options)


@pytest.mark.parametrize(
    ("features", "names", "message"),
    [
        (torch.ones(3, 2), ["a"], r"a column for each of 1 different names, got \(3, 2\)"),
        (torch.ones(3, 2), ["a", "a"], "each of 1 different names"),
        (torch.ones(3), ["a"], r"must be \(items, features\) .* got \(3,\)"),
        (torch.tensor([[0.5]]), ["a"], "must be 0 or 1, got 0.5"),
        ({"a": items(3, 0), "b": items(4, 0)}, (), r"the same shape \(items,\), got .*\(4,\)"),
        ({"a": torch.ones(3, 2)}, (), r"must be \(items, features\)"),
        ({}, (), "the same shape"),
    ],
)
def test_invalid_features_are_refused(features, names, message):
    with pytest.raises(ValueError, match=message):
        maximum_entropy(features, {"a": 0.5}, names=names)


def test_an_overall_rate_of_no_items_is_refused():
    with pytest.raises(ValueError, match=r"overall = 0.5 cannot be met"):
        maximum_entropy(torch.zeros(0, 0), {}, overall=0.5)
