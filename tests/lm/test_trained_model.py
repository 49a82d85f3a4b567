"""Models as folders: a saved model is the same when loaded, and a broken folder is an error."""

import dataclasses
import json
import re

import pytest
import torch
from tests.lm.small_model import SHAPE, fit, make_text

from thresher.errors import InputError
from thresher.lm.choices import TokenizerKind
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.trained_model import TrainedLanguageModel


@pytest.fixture(scope="module")
def trained():
    return fit()


@pytest.mark.parametrize("tokenizer", TokenizerKind)
@pytest.mark.parametrize("causal", [True, False])
def test_a_saved_model_predicts_as_before(tmp_path, tokenizer, causal):
    trained = fit(tokenizer=tokenizer, shape=dataclasses.replace(SHAPE, causal=causal))
    trained.write(tmp_path / "model")
    loaded = TrainedLanguageModel.read(tmp_path / "model")
    assert not loaded.model.training
    ids = torch.from_numpy(trained.tokenizer.encode(make_text(20)))
    before, after = (evaluate(each.model, each.task, ids).metrics() for each in (trained, loaded))
    assert before == after
    assert loaded.test.metrics() == trained.test.metrics()
    lossless = tokenizer in ("characters", "bpe")
    assert (loaded.test.byte_count is None) is not (lossless and causal)
    assert loaded.architecture == trained.architecture
    assert loaded.settings == trained.settings
    assert torch.equal(loaded.counts, trained.counts)
    assert loaded.best_step == trained.best_step
    for one, two in zip(loaded.log, trained.log, strict=True):
        assert one == pytest.approx(two, rel=0, abs=0, nan_ok=True)
    assert all(torch.equal(getattr(loaded.roles, r), getattr(trained.roles, r)) for r in ROLES)


@pytest.mark.parametrize("output", ["classes", "tree", "differentiated", "adjusted"])
def test_output_layers_that_depend_on_frequencies_are_saved_too(tmp_path, output):
    trained = fit(output=output, tied=False)
    trained.write(tmp_path / "model")
    loaded = TrainedLanguageModel.read(tmp_path / "model")
    ids = torch.arange(8)[None]
    one, two = (each.model.output.all_log_probs(each.model(ids)) for each in (trained, loaded))
    assert torch.equal(one, two)


def test_a_folder_holds_no_pickle(trained, tmp_path):
    trained.write(tmp_path / "model")
    assert sorted(file.name for file in (tmp_path / "model").iterdir()) == [
        "README.md",
        "config.json",
        "log.csv",
        "model.safetensors",
        "statistics.safetensors",
        "tokens.json",
    ]
    log = (tmp_path / "model" / "log.csv").read_text().splitlines()
    assert log[0].startswith("step,training_loss,validation_loss,learning_rate,tokens_per_second")
    assert len(log) == 3


@pytest.mark.parametrize(
    ("breaking", "message"),
    [
        (lambda f: (f / "model.safetensors").unlink(), "is incomplete"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x"), "was changed after"),
        (lambda f: (f / "tokens.json").write_text("{}"), "was changed after"),
        (lambda f: (f / "config.json").write_text("{"), "not valid JSON"),
        (lambda f: change(f, kind="entity finder"), "is not a language model"),
        (lambda f: change(f, format=2), "format 2; this version reads format 1"),
        (lambda f: change(f, settings={"stepz": 1}), "does not describe a model"),
        (lambda f: (f / "config.json").unlink(), "it has no config.json"),
    ],
)
def test_a_broken_folder_is_an_error_of_one_line(trained, tmp_path, breaking, message):
    folder = tmp_path / "model"
    trained.write(folder)
    breaking(folder)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        TrainedLanguageModel.read(folder)
    assert "\n" not in str(raised.value)


def change(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_weights_of_another_shape_are_refused(trained, tmp_path):
    trained.write(tmp_path / "one")
    fit(shape=dataclasses.replace(SHAPE, width=32)).write(tmp_path / "two")
    weights = (tmp_path / "two" / "model.safetensors").read_bytes()
    (tmp_path / "one" / "model.safetensors").write_bytes(weights)
    digests = [json.loads((tmp_path / each / "config.json").read_text()) for each in ("one", "two")]
    change(
        tmp_path / "one",
        sha256=digests[0]["sha256"]
        | {"model.safetensors": digests[1]["sha256"]["model.safetensors"]},
    )
    with pytest.raises(InputError, match="do not fit the configuration: embedding has the shape"):
        TrainedLanguageModel.read(tmp_path / "one")
