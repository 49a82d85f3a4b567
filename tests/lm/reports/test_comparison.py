"""The comparison of two models says where they differ beyond their intervals."""

import dataclasses
import math
from statistics import mean, stdev

import pytest
from tests.lm.reports.test_report import SETTINGS, fit

from thresher.lm.reports import report
from thresher.lm.reports.comparison import (
    MIN_OCCURRENCES,
    Difference,
    comparable,
    compared_sets,
    conclusion,
    loss_differences,
    same_up_to_seed,
)
from thresher.lm.reports.group_losses import Estimate, group_losses
from thresher.lm.reports.plots import plot_differences

FAR = Difference(Estimate(-0.5, 0.1), 1000)
NEAR = Difference(Estimate(0.05, 0.1), 1000)
WORSE = Difference(Estimate(0.3, 0.2), MIN_OCCURRENCES)
RARE = Difference(Estimate(-0.5, 0.1), MIN_OCCURRENCES - 1)


def with_seeds(count, **changes):
    settings = [dataclasses.replace(SETTINGS, seed=seed, **changes) for seed in range(count)]
    return {f"seed {each.seed} {changes or ''}": fit(settings=each) for each in settings}


def test_the_conclusion_names_groups_beyond_their_intervals():
    text = conclusion("a", "b", {"all": NEAR, "x": FAR, "y": NEAR, "z": WORSE, "w": RARE})
    assert text.startswith("Over all positions, b has about the same loss as a (+0.050 nats).")
    assert "lower in x (-0.500)." in text
    assert "higher in z (+0.300)" in text
    assert "In 1 of 4 groups" in text
    assert text.endswith(f"Too few occurrences for a conclusion: w ({MIN_OCCURRENCES - 1}).")
    assert conclusion("a", "b", {"all": FAR, "x": FAR, "y": FAR}) == (
        "Over all positions, b has a lower loss than a by 0.500±0.100 nats. "
        "Its loss is lower in x (-0.500) and y (-0.500)."
    )


def test_a_report_of_two_models_has_their_difference_in_words_and_numbers(tmp_path):
    short = fit()
    long = fit(settings=dataclasses.replace(SETTINGS, steps=150, learning_rate=1e-2))
    difference = loss_differences({"short": short}, {"long": long})["all"]
    assert difference.loss.mean < 0
    assert difference.occurrences == short.test.metrics()["tokens"]
    report.write_report({"short": short, "long": long}, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "## long compared with short" in text
    assert f"{difference.loss.mean:+.3f}±{difference.loss.half_width:.3f}" in text
    assert (tmp_path / "differences.svg").exists()


def test_models_with_other_tokens_are_not_compared():
    one, other = fit(), fit(alphabet=30)
    assert comparable(one, one)
    assert not comparable(one, other)
    assert "compared with" not in report.report_text({"one": one, "other": other}, [])


def test_models_that_differ_in_their_seed_only_are_averaged():
    models = with_seeds(3)
    losses = [each.test.loss for each in models.values()]
    other = fit(settings=dataclasses.replace(SETTINGS, margin="2"))
    assert not same_up_to_seed(models["seed 0 "], other)
    assert compared_sets(models | {"margin": other}) is None  # one seed shows no noise
    text = report.report_text(models | {"margin": other}, [])
    line = next(line for line in text.splitlines() if line.startswith("| seed 0  (3 seeds) |"))
    assert f"| {sum(losses) / 3:.3f}±" in line
    assert f"({min(losses):.3f}, {max(losses):.3f})" in line


def test_two_sets_of_seeds_are_compared_by_the_means_of_their_seeds():
    first, second = with_seeds(3), with_seeds(2, margin="2")
    differences = loss_differences(first, second)
    samples = [
        {each.name: each.loss.mean for each in group_losses(trained, trained.test)}
        for trained in (*first.values(), *second.values())
    ]
    for name in samples[0]:
        before, after = ([each[name] for each in part] for part in (samples[:3], samples[3:]))
        expected = mean(after) - mean(before)
        # Half-widths of Student's intervals with 2 and 1 degrees of freedom
        errors = (4.303 * stdev(before) / 3**0.5, 12.706 * stdev(after) / 2**0.5)
        assert differences[name].loss.mean == pytest.approx(expected)
        assert differences[name].loss.half_width == pytest.approx(math.hypot(*errors), rel=1e-3)
    models = first | second
    assert [list(each) for each in compared_sets(models)] == [list(first), list(second)]
    assert "(2 seeds) compared with seed 0  (3 seeds)" in report.report_text(models, [])
    bars = plot_differences(models).axes[0].patches
    assert [bar.get_height() for bar in bars] == [e.loss.mean for e in differences.values()]
