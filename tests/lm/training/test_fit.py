"""Training from raw text: splits, tokenizers, resuming, diverged runs."""

import dataclasses
import math

import pytest
import torch
from tests.lm.small_model import SETTINGS, SHAPE, fit, make_text

from thresher.errors import InputError, TrainingError
from thresher.lm.losses.margin import Margin
from thresher.lm.losses.margin_choice import auto_margin
from thresher.lm.reports.evaluation import best_temperature
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.fit import CHECKPOINT, LOG, DivergedError
from thresher.lm.training.splits import split_text
from thresher.lm.training.state import TrainingState
from thresher.progress import SilentProgress


@pytest.fixture(scope="module")
def trained():
    return fit()


def test_the_test_text_is_the_last_part_and_every_byte_is_counted(trained):
    metrics = trained.test.metrics()
    bits = metrics["tokens"] * metrics["loss"] / math.log(2)
    assert metrics["tokens"] == pytest.approx(0.05 * len(make_text()), rel=0.05)
    assert metrics["bits_per_byte"] == pytest.approx(bits / metrics["tokens"])  # one byte per token
    assert metrics["perplexity_at_temperature"] <= metrics["perplexity"] * 1.001


def test_the_temperature_is_the_best_on_the_validation_text(trained):
    ids = torch.from_numpy(trained.tokenizer.encode(str(split_text(make_text()).validation)))
    best = best_temperature(trained.model, trained.task, ids, batch=4, limit=500)
    assert trained.temperature == best != 1


def test_tokenizers_are_learned_from_the_training_part_except_for_characters():
    late = "".join(f"{line}\n" for line in [*make_text().splitlines(), *["é zebra zebra"] * 15])
    assert "é" in fit(late).tokenizer.names
    words = fit(late, tokenizer="words").tokenizer.names
    assert "cat" in words
    assert "zebra" not in words


def test_an_automatic_margin_is_saved_as_the_numbers_that_were_chosen(trained):
    found = fit(settings=dataclasses.replace(SETTINGS, margin="auto", rare_token_budget=None))
    tokens = SETTINGS.steps * SETTINGS.batch * SHAPE.context
    margin, budget = auto_margin(trained.counts, training_tokens=tokens)
    assert found.settings.margin == Margin.parse(margin)
    assert found.settings.rare_token_budget == budget > 0
    explicit = dataclasses.replace(SETTINGS, margin=margin, rare_token_budget=budget)
    assert fit(settings=explicit).test.loss == found.test.loss != trained.test.loss
    without = dataclasses.replace(SETTINGS, margin="auto", rare_token_budget=0.0)
    assert fit(settings=without).settings.rare_token_budget == 0


def test_a_precision_that_the_device_does_not_support_is_an_error_before_training(monkeypatch):
    monkeypatch.setattr("thresher.hardware_support._cpu_trains_in", lambda dtype: False)
    with pytest.raises(InputError, match="this CPU cannot compute in bfloat16"):
        fit(settings=dataclasses.replace(SETTINGS, precision="bfloat16"))


@pytest.mark.parametrize("tokenizer", ["characters", "bpe"])
def test_a_model_of_a_text_with_lone_surrogates_can_be_saved(tmp_path, tokenizer):
    text = make_text().replace("cat", "c\ud83dt")
    fit(text, tokenizer=tokenizer).write(tmp_path / "model")
    metrics = TrainedLanguageModel.read(tmp_path / "model").test.metrics()
    assert metrics == fit(text.replace("\ud83d", "?"), tokenizer=tokenizer).test.metrics()


def test_a_stopped_run_is_resumed_and_gives_the_same_model(trained, tmp_path):
    class StopError(Exception):
        pass

    def stop(progress):
        if progress.step == 20:
            raise StopError

    with pytest.raises(StopError):
        fit(work_dir=tmp_path, on_progress=stop)
    kept = {f"{part}.ids" for part in ("train", "validation", "test")}
    assert {CHECKPOINT, LOG, *kept} == {file.name for file in tmp_path.iterdir()}
    resumed = fit(work_dir=tmp_path, resume=True)
    assert resumed.test.metrics() == trained.test.metrics()
    for name, value in trained.model.weights().items():
        assert torch.equal(value, resumed.model.weights()[name])


def test_a_diverged_run_carries_its_best_model(monkeypatch):
    def break_weights(state):
        if state.step == 30:
            with torch.no_grad():
                state.model.embedding[0] = math.nan

    monkeypatch.setattr("thresher.lm.training.fit._prepare_saving", lambda *_, **__: break_weights)
    with pytest.raises(DivergedError, match="training loss became NaN by step 40") as raised:
        fit(settings=dataclasses.replace(SETTINGS, steps=60))
    assert not isinstance(raised.value, InputError)
    assert raised.value.best_model.best_step == 30
    assert math.isfinite(raised.value.best_model.test.loss)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "empty"), (" \n" * 500, "empty"), ("ab", "too short"), ("abc" * 20, "more than")],
)
def test_a_corpus_that_is_too_small_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        fit(text, shape=dataclasses.replace(SHAPE, context=64))


def test_tokenizing_and_testing_report_their_progress():
    stages = RecordedStages()
    trained = fit(progress=stages)
    assert list(stages.done) == ["tokens", "test"]
    assert stages.done["tokens"] == stages.total["tokens"] == len(make_text())
    assert stages.total["test"] == trained.test.metrics()["tokens"] <= stages.done["test"]


class RecordedStages(SilentProgress):
    def __init__(self):
        self.total, self.done = {}, {}

    def stage(self, name, total):
        self.total[name], self.done[name] = total, 0

        def advance(steps):
            self.done[name] += steps

        return advance


def test_a_context_longer_than_the_text_is_refused_before_memory_is_allocated(monkeypatch):
    monkeypatch.setattr(TrainingState, "new", None)
    shape = dataclasses.replace(SHAPE, context=10**9)
    with pytest.raises(InputError, match="must have more than `context` "):
        fit(shape=shape)


def test_too_little_memory_is_one_clear_line():
    with pytest.raises(TrainingError, match="not enough memory; choose a smaller `batch`"):
        fit(settings=dataclasses.replace(SETTINGS, batch=10**12))
