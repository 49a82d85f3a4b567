"""The comparison of two models says where they differ beyond their intervals."""

import dataclasses

from tests.lm.reports.test_report import SETTINGS, fit

from thresher.lm.reports import report
from thresher.lm.reports.comparison import (
    comparable,
    conclusion,
    loss_differences,
    same_up_to_seed,
)
from thresher.lm.reports.group_losses import Estimate

FAR, NEAR = Estimate(-0.5, 0.1), Estimate(0.05, 0.1)


def test_the_conclusion_names_groups_beyond_their_intervals():
    text = conclusion("a", "b", {"all": NEAR, "x": FAR, "y": NEAR, "z": Estimate(0.3, 0.2)})
    assert text.startswith("Over all positions, b has about the same loss as a (+0.050 nats).")
    assert "lower in x (-0.500)" in text
    assert "higher in z (+0.300)" in text
    assert "In 1 of 3 groups" in text
    assert conclusion("a", "b", {"all": FAR, "x": FAR, "y": FAR}) == (
        "Over all positions, b has a lower loss than a by 0.500±0.100 nats. "
        "Its loss is lower in x (-0.500) and y (-0.500)."
    )


def test_a_report_of_two_models_has_their_difference_in_words_and_numbers(tmp_path):
    short = fit()
    long = fit(settings=dataclasses.replace(SETTINGS, steps=150, learning_rate=1e-2))
    difference = loss_differences(short, long)["all"]
    assert difference.mean < 0
    report.write_report({"short": short, "long": long}, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "## long compared with short" in text
    assert f"{difference.mean:+.3f}±{difference.half_width:.3f}" in text
    assert (tmp_path / "differences.svg").exists()


def test_models_with_other_tokens_are_not_compared():
    one, other = fit(), fit(alphabet=30)
    assert comparable(one, one)
    assert not comparable(one, other)
    assert "compared with" not in report.report_text({"one": one, "other": other}, [])


def test_models_that_differ_in_their_seed_only_are_averaged():
    models = {
        f"seed {seed}": fit(settings=dataclasses.replace(SETTINGS, seed=seed)) for seed in range(3)
    }
    assert same_up_to_seed(models["seed 0"], models["seed 2"])
    other = fit(settings=dataclasses.replace(SETTINGS, margin="2"))
    assert not same_up_to_seed(models["seed 0"], other)
    text = report.report_text(models | {"margin": other}, [])
    mean = sum(each.test.loss for each in models.values()) / 3
    line = next(line for line in text.splitlines() if line.startswith("| seed 0 and 2 more |"))
    assert f"| 3 | {mean:.3f}±" in line
