import pytest

from thresher.gates.collapse import OpenRateLimits

LIMITS = OpenRateLimits(low=0.01, high=0.6)


@pytest.mark.parametrize("selected", [0.0, 0.005])
def test_gates_closed_nearly_everywhere_are_described(selected):
    message = LIMITS.collapse(selected)
    assert message == f"closed nearly everywhere ({selected:.1%} of words selected)"


@pytest.mark.parametrize("selected", [0.61, 1.0])
def test_gates_open_on_most_words_are_described(selected):
    assert LIMITS.collapse(selected) == f"open on most words ({selected:.1%} of words selected)"


@pytest.mark.parametrize("selected", [0.01, 0.2, 0.6])
def test_gates_within_the_limits_have_not_collapsed(selected):
    assert LIMITS.collapse(selected) is None
