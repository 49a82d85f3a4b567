"""The options of `lm train` for other models and configuration files, `lm sample`, `lm export`."""

import gzip
import json

import pytest
import torch
from tests.lm.small_model import make_text

from thresher.lm.trained_model import TrainedLanguageModel

SMALL = """
steps = 6
batch = 4
width = 16
heads = 2
layers = 1
context = 16
evaluate-every = 3
margin = 4
feed-forward = "swiglu"
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl.gz"
    lines = make_text().splitlines()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": line}) + "\n" for line in lines)
    return path


def weights(folder):
    return TrainedLanguageModel.read(folder).model.weights()


def test_a_run_is_repeated_from_the_file_that_comes_with_its_model(corpus, config, tmp_path, run):
    options = (
        "--config",
        config,
        "--steps",
        8,
        "--accumulate",
        2,
        "--warm-up",
        3,
        "--fused",
        "--quiet",
    )
    assert run("lm", "train", corpus, "-o", tmp_path / "one", *options).status == 0
    trained = TrainedLanguageModel.read(tmp_path / "one")
    settings, shape = trained.settings, trained.architecture.shape
    assert (settings.steps, settings.batch, settings.accumulate) == (8, 4, 2)  # 8 comes first
    assert (str(settings.margin), settings.fused, shape.mlp) == ("4", True, "swiglu")
    assert settings.warm_up == 3
    file = tmp_path / "one" / "run.toml"
    assert "steps = 8\n" in file.read_text()
    assert 'feed_forward = "swiglu"\n' in file.read_text()  # the option's name
    again = ("-o", tmp_path / "two", "--config", file, "--quiet")
    assert run("lm", "train", corpus, *again).status == 0
    for name, value in weights(tmp_path / "one").items():
        assert torch.equal(weights(tmp_path / "two")[name], value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("stepps = 3", "there is no option 'stepps'; did you mean steps?"),
        ("steps = ", "is not a TOML file"),
        ("steps = " + "[" * 100_000, "is not a TOML file"),
        ("[training]\nsteps = 3", "[training] is a table"),
        ("steps = 0", "steps"),
        ("steps = 2.5", "'--steps': Input should be a valid integer"),
        ("steps = true", "steps must be text or a number, got true"),
        ("learning-rate = inf", "'--learning-rate': Input should be a finite number"),
        ("width = [64, 32]", "width must be text or a number, got [64, 32]"),
        ("margin = 2026-11-19", "margin must be text or a number, got 2026-11-19"),
        ('quiet = "no"', "quiet must be true or false, got no"),
    ],
)
def test_errors_in_a_configuration_file_are_one_line(content, message, corpus, tmp_path, run):
    path = tmp_path / "wrong.toml"
    path.write_text(content)
    result = run("lm", "train", corpus, "-o", tmp_path / "lm", "--config", path)
    assert result.status != 0
    assert message in result.err


def test_a_text_in_a_compressed_file_gives_the_model_of_the_plain_one(
    corpus, config, tmp_path, run
):
    plain = tmp_path / "plain.txt"
    plain.write_text(make_text().removesuffix("\n"))
    for source, name in ((corpus, "one"), (plain, "two")):
        options = ("-o", tmp_path / name, "--config", config, "--quiet")
        assert run("lm", "train", source, *options).status == 0
    for name, value in weights(tmp_path / "one").items():
        assert torch.equal(weights(tmp_path / "two")[name], value)


def test_a_model_is_exported_and_trained_further(corpus, config, tmp_path, run):
    options = ("--config", config, "--tokens", "bpe", "--vocabulary", 300, "--quiet")
    assert run("lm", "train", corpus, "-o", tmp_path / "lm", *options).status == 0
    result = run("lm", "export", tmp_path / "lm", "-o", tmp_path / "hf")
    assert (result.status, result.out) == (
        0,
        f"{tmp_path / 'hf'}: 5 files for AutoModelForCausalLM\n",
    )
    refused = run("lm", "export", tmp_path / "lm", "-o", tmp_path / "hf")
    assert (refused.status, refused.err.count("\n")) == (1, 1)
    assert run("lm", "export", tmp_path / "lm", "-o", tmp_path / "hf", "--force").status == 0
    file = tmp_path / "notes.txt"
    file.write_text("Oslo")
    refused = run("lm", "export", tmp_path / "lm", "-o", file, "--force")
    assert refused.error_line == f"{file} exists and is not a folder; choose another name"
    assert (refused.status, file.read_text()) == (1, "Oslo")
    for start in ("hf", "lm"):
        more = ("-o", tmp_path / f"from-{start}", "--init-from", tmp_path / start, "--steps", 1)
        result = run("lm", "train", corpus, *more, "--learning-rate", 1e-9, "--quiet")
        assert result.status == 0, result.err
        for name, value in weights(tmp_path / "lm").items():
            found = weights(tmp_path / f"from-{start}")[name]
            torch.testing.assert_close(found, value, rtol=0, atol=1e-6)


def test_samples_are_printed_one_after_the_other(corpus, config, tmp_path, run):
    options = ("-o", tmp_path / "lm", "--config", config, "--quiet")
    assert run("lm", "train", corpus, *options).status == 0
    sampling = ("--samples", 3, "--top-k", 5, "--top-p", 0.9, "--length", 9, "--seed", 1)
    result = run("lm", "sample", tmp_path / "lm", *sampling)
    assert (result.status, result.out.count("\n---\n\n")) == (0, 2)
    lines = run("lm", "sample", tmp_path / "lm", *sampling, "--json").out.splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    assert len(texts) == 3
    assert all(len(text) == 9 for text in texts)
    assert result.out == "\n---\n\n".join(f"{text}\n" for text in texts)


def test_options_may_repeat_but_not_contradict_the_model_that_training_begins_from(
    corpus, config, tmp_path, run
):
    first = tmp_path / "first"
    assert run("lm", "train", corpus, "-o", first, "--config", config, "--quiet").status == 0
    further = ("lm", "train", corpus, "--init-from", first, "--steps", 2, "--quiet", "-o")
    for option, value, message in (
        ("--width", 32, "--width is 32, but the model to start from has 16"),
        ("--feed-forward", "gelu", "--feed-forward is gelu, but the model to start from has"),
        ("--tokens", "bpe", "--tokens is bpe, but the model to start from has characters"),
        ("--output-layer", "tree", "--output-layer is tree, but the model to start from has full"),
    ):
        refused = run(*further, tmp_path / "refused", option, value)
        assert (refused.status, refused.err.count("\n")) == (1, 1)
        assert message in refused.err
    repeated = ("--config", first / "run.toml", "--dropout", 0.25)
    assert run(*further, tmp_path / "second", *repeated).status == 0
    second = TrainedLanguageModel.read(tmp_path / "second")
    assert second.architecture.shape.dropout == 0.25
    file = tmp_path / "second" / "run.toml"
    assert f'init_from = "{first}"\n' in file.read_text()
    assert run("lm", "train", corpus, "-o", tmp_path / "third", "--config", file).status == 0
    for name, value in second.model.weights().items():
        assert torch.equal(weights(tmp_path / "third")[name], value)
