"""Models as folders: what is written is read again, and what is broken is told."""

import dataclasses
import json
import math
import random
import re

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.reports.evaluation import best_temperature, evaluate
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.sampling import sample_text
from thresher.lm.tokens.factory import KINDS
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.fit import CHECKPOINT, LOG, SpoiledRunError, fit_language_model
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.splits import split_text
from thresher.lm.transformer import Shape

SMALL = Shape(width=16, heads=2, layers=1, context=16)
SETTINGS = LanguageModelSettings(
    steps=20, batch=4, warm_up=2, evaluate_every=10, validation_tokens=500
)


def text(lines=400):
    draw = random.Random(0)
    words = "the cat sat on a mat and then it ran off to see Rosa in Oslo".split()
    return "".join(f"{' '.join(draw.choices(words, k=8))}.\n" for _ in range(lines))


def fit(**options):
    return fit_language_model(text(), **{"shape": SMALL, "settings": SETTINGS} | options)


@pytest.fixture(scope="module")
def learned():
    return fit()


@pytest.mark.parametrize("tokens", KINDS)
@pytest.mark.parametrize("causal", [True, False])
def test_a_saved_model_predicts_as_before(tmp_path, tokens, causal):
    made = fit(tokens=tokens, shape=dataclasses.replace(SMALL, causal=causal))
    made.write(tmp_path / "model")
    read = TrainedLanguageModel.read(tmp_path / "model")
    assert not read.model.training
    ids = torch.from_numpy(made.tokens.encode(text(20)))
    before, after = (evaluate(each.model, each.task, ids).figures() for each in (made, read))
    assert before == after
    assert read.test.figures() == made.test.figures()
    exact = tokens not in ("words", "word-pairs")  # what they read, they do not all keep
    assert (read.test.byte_count is None) is not (exact and causal)
    assert read.architecture == made.architecture
    assert read.settings == made.settings
    assert torch.equal(read.counts, made.counts)
    assert read.best_step == made.best_step
    for one, two in zip(read.log, made.log, strict=True):
        assert one == pytest.approx(two, rel=0, abs=0, nan_ok=True)
    assert all(torch.equal(getattr(read.roles, r), getattr(made.roles, r)) for r in ROLES)


@pytest.mark.parametrize("output", ["classes", "tree", "differentiated", "adjusted"])
def test_layers_that_know_frequencies_are_saved_too(tmp_path, output):
    made = fit(output=output, tied=False)
    made.write(tmp_path / "model")
    read = TrainedLanguageModel.read(tmp_path / "model")
    ids = torch.arange(8)[None]
    one, two = (each.model.output.all_log_probs(each.model(ids)) for each in (made, read))
    assert torch.equal(one, two)


def test_the_test_text_is_the_last_part_and_every_byte_is_counted(learned):
    figures = learned.test.figures()
    bits = figures["tokens"] * figures["loss"] / math.log(2)
    assert figures["tokens"] == pytest.approx(0.05 * len(text()), rel=0.05)
    assert figures["bits_per_byte"] == pytest.approx(bits / figures["tokens"])  # one byte a token
    assert figures["perplexity_at_temperature"] <= figures["perplexity"] * 1.001


def test_its_temperature_is_the_best_on_validation(learned):
    ids = torch.from_numpy(learned.tokens.encode(split_text(text()).validation))
    best = best_temperature(learned.model, learned.task, ids, batch=4, limit=500)
    assert learned.temperature == best != 1


def test_tokens_are_learned_from_the_training_part_but_for_characters():
    """A late one among the characters has a row; a late word is unknown."""
    late = "".join(f"{line}\n" for line in [*text().splitlines(), *["é zebra zebra"] * 15])
    how = {"shape": SMALL, "settings": SETTINGS}
    assert "é" in fit_language_model(late, **how).tokens.names
    words = fit_language_model(late, tokens="words", **how).tokens.names
    assert "cat" in words
    assert "zebra" not in words


def test_a_precision_the_device_has_not_is_told_before_training(monkeypatch):
    monkeypatch.setattr("thresher.lm.training.precision._cpu_computes_in", lambda precision: False)
    with pytest.raises(InputError, match="this CPU cannot compute in bfloat16"):
        fit(settings=dataclasses.replace(SETTINGS, precision="bfloat16"))


@pytest.mark.parametrize("tokens", ["characters", "bpe"])
def test_a_text_with_half_a_surrogate_pair_gives_a_model_that_can_be_saved(tmp_path, tokens):
    halved = text().replace("cat", "c\ud83dt")
    made = fit_language_model(halved, tokens=tokens, shape=SMALL, settings=SETTINGS)
    made.write(tmp_path / "model")
    figures = TrainedLanguageModel.read(tmp_path / "model").test.figures()
    whole = fit_language_model(
        halved.replace("\ud83d", "?"), tokens=tokens, shape=SMALL, settings=SETTINGS
    )
    assert figures == whole.test.figures()


def test_a_folder_holds_no_pickle(learned, tmp_path):
    learned.write(tmp_path / "model")
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


def test_a_stopped_fit_goes_on_to_the_same_model(learned, tmp_path):
    class StopError(Exception):
        pass

    def stop(progress):
        if progress.step == 20:
            raise StopError

    with pytest.raises(StopError):
        fit(work=tmp_path, on_progress=stop)
    kept = {f"{part}.ids" for part in ("train", "validation", "test")}
    assert {CHECKPOINT, LOG, *kept} == {file.name for file in tmp_path.iterdir()}
    resumed = fit(work=tmp_path, resume=True)
    assert resumed.test.figures() == learned.test.figures()
    for name, value in learned.model.weights().items():
        assert torch.equal(value, resumed.model.weights()[name])


def test_a_spoiled_run_hands_over_its_best_model(monkeypatch):
    settings = dataclasses.replace(SETTINGS, steps=60)

    def spoil(state):
        if state.step == 30:
            with torch.no_grad():
                state.model.embedding[0] = math.nan

    monkeypatch.setattr("thresher.lm.training.fit._keeper", lambda *_, **__: spoil)
    with pytest.raises(SpoiledRunError, match="training loss is nan by step 40") as raised:
        fit(settings=settings)
    assert raised.value.learned.best_step == 30
    assert math.isfinite(raised.value.learned.test.loss)


@pytest.mark.parametrize(
    ("breaking", "told"),
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
def test_a_broken_folder_is_told_in_one_line(learned, tmp_path, breaking, told):
    folder = tmp_path / "model"
    learned.write(folder)
    breaking(folder)
    with pytest.raises(InputError, match=re.escape(told)) as raised:
        TrainedLanguageModel.read(folder)
    assert "\n" not in str(raised.value)


def change(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_weights_of_another_shape_are_refused(learned, tmp_path):
    learned.write(tmp_path / "one")
    fit(shape=dataclasses.replace(SMALL, width=32)).write(tmp_path / "two")
    weights = (tmp_path / "two" / "model.safetensors").read_bytes()
    (tmp_path / "one" / "model.safetensors").write_bytes(weights)
    digests = [json.loads((tmp_path / each / "config.json").read_text()) for each in ("one", "two")]
    change(
        tmp_path / "one",
        sha256=digests[0]["sha256"]
        | {"model.safetensors": digests[1]["sha256"]["model.safetensors"]},
    )
    with pytest.raises(InputError, match="another configuration: embedding has the shape"):
        TrainedLanguageModel.read(tmp_path / "one")


def test_samples_follow_from_the_generator(learned):
    one, two, three = (
        sample_text(learned, length=60, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert one == two != three
    assert len(one) == 60
    assert sample_text(learned, length=0) == ""


def test_at_temperature_zero_the_likeliest_token_comes_next(learned):
    drawn = sample_text(learned, prompt="the c", length=3, temperature=0)
    for end in range(3):
        ids = learned.tokens.encode("the c" + drawn[:end])
        log_p = learned.model.output.all_log_probs(learned.model(torch.from_numpy(ids)[None]))
        assert learned.tokens.decode([int(log_p[0, -1].argmax())]) == drawn[end]


@pytest.mark.parametrize("temperature", [1e-3, 1e-40, 1e-300])
def test_next_to_zero_it_does_too(learned, temperature):
    coldest = sample_text(learned, prompt="the c", length=30, temperature=0)
    assert sample_text(learned, prompt="the c", length=30, temperature=temperature) == coldest


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompt": "%"}, "'%' .* never seen in training"),
        ({"length": -1}, "at least 0 tokens"),
        ({"temperature": -0.5}, "at least 0, got -0.5"),
        ({"temperature": math.nan}, "at least 0, got nan"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_an_error(learned, options, told):
    with pytest.raises(InputError, match=told):
        sample_text(learned, **options)


def test_a_masked_model_does_not_continue_texts():
    with pytest.raises(InputError, match="masked model"):
        sample_text(fit(shape=dataclasses.replace(SMALL, causal=False)))


@pytest.mark.parametrize(
    ("content", "told"),
    [("", "empty"), (" \n" * 500, "empty"), ("ab", "too short"), ("abc" * 20, "no more than")],
)
def test_a_corpus_too_small_is_an_error(content, told):
    with pytest.raises(InputError, match=told):
        fit_language_model(content, shape=dataclasses.replace(SMALL, context=64), settings=SETTINGS)
