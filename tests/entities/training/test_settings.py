import dataclasses

import pytest

from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.choices import GatePosition
from thresher.gates.selector import PARAMETER_RANGES


@pytest.mark.parametrize("form", sorted(PARAMETER_RANGES))
@pytest.mark.parametrize("gates_at", GatePosition)
def test_every_form_and_position_of_gates_can_be_chosen(form, gates_at):
    settings = EntitySettings(form=form, gates_at=gates_at, target_rate=0.15)
    assert (settings.form, settings.gates_at) == (form, gates_at)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"form": "soft"}, "unknown `form` 'soft'; choose from continuous, stretched, thresholded"),
        ({"gates_at": "output"}, "unknown `gates_at` 'output'; choose from input, pool"),
        ({"epochs": 0}, "`epochs` must be at least 1, got 0"),
        ({"hidden": 0}, "`hidden` must be at least 1, got 0"),
        ({"sentences_per_batch": -3}, "`sentences_per_batch` must be at least 1, got -3"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0, got 0"),
        ({"temperature": -0.1}, "`temperature` must be above 0, got -0.1"),
        ({"temperature": float("nan")}, "`temperature` must be above 0, got nan"),
        ({"contrast_share": 1.1}, r"`contrast_share` must be at least 0 and at most 1, got 1.1"),
        ({"repeated_rate": -0.1}, r"`repeated_rate` must be at least 0 and at most 1, got -0.1"),
        ({"rare_rate": 2}, r"`rare_rate` must be at least 0 and at most 1, got 2"),
        ({"sparsity": -1.0}, "`sparsity` must be at least 0, got -1"),
        ({"weight_decay": -1.0}, "`weight_decay` must be at least 0, got -1"),
        ({"agreement": float("nan")}, "`agreement` must be at least 0, got nan"),
        ({"seed": -1}, "`seed` must be at least 0, got -1"),
        ({"target_rate": 1.5}, "`target_rate` must be between 0.001 and 0.999, which .*, got 1.5"),
        ({"target_rate": 0.0}, "which thresholded gates can reach, got 0"),
    ],
)
def test_a_wrong_setting_is_one_line_with_the_rule_the_value_and_the_choices(wrong, message):
    with pytest.raises(InputError, match=message) as raised:
        EntitySettings(**wrong)
    assert "\n" not in str(raised.value)


def test_settings_cannot_be_changed_nor_given_by_position():
    with pytest.raises(dataclasses.FrozenInstanceError):
        EntitySettings().epochs = 7
    with pytest.raises(TypeError):
        EntitySettings("stretched")
