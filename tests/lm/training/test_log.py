import sys

import pytest

from thresher.errors import InputError
from thresher.lm.shape import Shape
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.log import tensorboard_log
from thresher.lm.training.settings import LanguageModelSettings

TEXT = "the cat sat on the mat, and the dog sat on the cat.\n" * 40


def test_every_column_of_the_log_is_a_curve(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trained = fit_language_model(
        TEXT,
        shape=Shape(width=8, heads=1, layers=1, context=8),
        settings=LanguageModelSettings(steps=4, batch=2, evaluate_every=2),
        tensorboard=tmp_path / "board",
    )
    read = accumulator.EventAccumulator(str(tmp_path / "board")).Reload()
    curves = {tag: read.Scalars(tag) for tag in read.Tags()["scalars"]}
    assert set(curves) == {
        "training_loss", "validation_loss", "learning_rate", "tokens_per_second",
        "loss/ranks_1-10", "loss/ranks_11-15",
    }  # fmt: skip
    for name in ("validation_loss", "training_loss"):
        assert [event.step for event in curves[name]] == [2, 4]
        expected = [row[name] for row in trained.log]
        assert [event.value for event in curves[name]] == pytest.approx(expected)


def test_without_a_folder_nothing_is_imported_and_nothing_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.chdir(tmp_path)
    with tensorboard_log(None) as add:
        assert add({"step": 1, "loss": 2.0}) is None
    assert list(tmp_path.iterdir()) == []


def test_without_tensorboard_the_error_names_the_extra_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"\.\[train\]"), tensorboard_log(tmp_path / "board"):
        pass
    assert not (tmp_path / "board").exists()


def test_a_path_that_cannot_be_a_folder_is_an_error(tmp_path):
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), tensorboard_log(tmp_path / "file" / "b"):
        pass
