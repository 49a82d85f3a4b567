"""Names of version 0.1 can still be imported, with a DeprecationWarning."""

import importlib
import sys

import pytest

import thresher
from thresher.moved_modules import MOVED_MODULES

OLD_NAMES = {
    "thresher.encoders.from_text": "train_encoder",
    "thresher.entities.beliefs": "Beliefs",
    "thresher.entities.distillation": "Distillation",
    "thresher.entities.settings": "Settings",
    "thresher.entities.switches": "DualModels",
    "thresher.lm.fitting": "fit_language_model",
    "thresher.lm.learned": "LearnedModel",
    "thresher.lm.linear_selfish": "linear_selfish_cross_entropy",
    "thresher.lm.margins": "top_p_margin",
    "thresher.lm.selfish": "selfish_cross_entropy",
    "thresher.lm.settings": "TrainingSettings",
    "thresher.lm.statistics": "selfish_statistics",
    "thresher.lm.trainer_loss": "trainer_loss",
    "thresher.maths.frequency": "low_pass",
    "thresher.maths.gates": "gate",
    "thresher.text.words": "segment",
    "thresher.web.shelf": "Shelf",
}


def test_every_moved_module_is_tested():
    assert OLD_NAMES.keys() == MOVED_MODULES.keys()


@pytest.mark.parametrize(("module", "name"), OLD_NAMES.items())
def test_an_old_import_path_gives_the_moved_object_and_a_warning(module, name, monkeypatch):
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{module} was renamed to {MOVED_MODULES[module]}"):
        old = importlib.import_module(module)
    assert getattr(old, name).__module__ == MOVED_MODULES[module]
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize(
    ("old", "new"), [("Beliefs", "PriorKnowledge"), ("Settings", "EntitySettings")]
)
def test_an_old_public_name_is_the_new_one_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=f"thresher.{old} was renamed to {new}"):
        assert getattr(thresher, old) is getattr(thresher, new)
