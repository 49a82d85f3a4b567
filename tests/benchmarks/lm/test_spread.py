"""Figures over seeds, as the tables of the results show them."""

from benchmarks.lm.spread import MISSING, named, spread

SEEDS = {2: {"loss": 1.5}, 0: {"loss": 1.25}, 1: {"loss": 1.0}}


def loss(result):
    return result["loss"]


def test_a_mean_is_shown_with_its_lowest_and_highest_seed():
    assert spread(SEEDS, loss, 2) == "1.25 (1.00–1.50)"
    assert spread(SEEDS, lambda each: 7.0, 0) == "7"  # all seeds agree
    assert spread({0: {"loss": 1.25}}, loss) == "1.250"
    assert spread(None, loss) == spread({}, loss) == MISSING


def test_rows_with_fewer_than_three_seeds_say_so():
    assert named("row", SEEDS) == "row"
    assert named("row", {0: {}}) == "row (1 seed)"
    assert named("row", {0: {}, 1: {}}) == "row (2 seeds)"
