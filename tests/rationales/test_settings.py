"""Settings that cannot work are refused with the rule, the value and the choices."""

import pytest

from thresher.errors import InputError
from thresher.gates.lagrangian import TermWeight
from thresher.rationales.settings import RationaleSettings

BAD = [
    ({"mode": "both"}, "unknown `mode` 'both'; choose from frozen, joint"),
    ({"gates_at": "output"}, "unknown `gates_at` 'output'; choose from input, pool"),
    ({"form": "hard"}, "unknown `form` 'hard'; choose from continuous, stretched, thresholded"),
    ({"estimator": "path"}, "unknown `estimator` 'path'; choose from pathwise, reinforce"),
    ({"baseline": "mean"}, "unknown `baseline` 'mean'; choose from none, average, others"),
    ({"steps": 0}, "`steps` must be at least 1, got 0"),
    ({"samples": 0}, "`samples` must be at least 1, got 0"),
    ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
    ({"sparsity": -1.0}, "`sparsity` must be at least 0, got -1.0"),
    ({"continuity": -0.5}, "`continuity` must be at least 0"),
    ({"selection": -0.5}, "`selection` must be at least 0"),
    ({"sparsity_target": 1.5}, r"`sparsity_target` must be at least 0 and at most 1, got 1.5"),
    ({"expected_rate": -0.1}, r"`expected_rate` must be at least 0 and at most 1"),
    ({"smoothing": 1.0}, r"`smoothing` must be at least 0 and below 1"),
    ({"held_out": 0.0}, r"`held_out` must be above 0 and below 1"),
    ({"least_weight": 9.0}, "`least_weight` must be at most `most_weight`, 5.0, got 9.0"),
    ({"sparsity_target": 1e-9}, "`sparsity_target` must be between 3e-07 and 1, which"),
    (
        {"estimator": "reinforce", "baseline": "others"},
        "`samples` must be at least 2 with the baseline others, got 1",
    ),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(given) for given, _ in BAD])
def test_an_invalid_setting_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        RationaleSettings(**given)


def test_a_term_with_a_target_has_a_multiplier_and_one_without_a_fixed_weight():
    settings = RationaleSettings(sparsity=0.3, sparsity_target=0.2, continuity=0.7)
    assert settings.term_weight("continuity") == TermWeight(0.7)
    held = settings.term_weight("sparsity")
    assert (held.target, held.weight) == (0.2, 0.3)
    assert settings.term_weight("sparsity") is not held  # every run has its own


@pytest.mark.parametrize("term", ["sparsity", "continuity", "selection"])
def test_a_multiplier_with_the_initial_value_zero_can_grow(term):
    held = RationaleSettings(**{term: 0.0, f"{term}_target": 0.1}).term_weight(term)
    assert held.weight > 0
