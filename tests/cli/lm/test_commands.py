"""thresher lm: train, eval, report and sample on the command line."""

import importlib.util
import json
import math
import random
import re
from dataclasses import fields

import pytest
import torch

from thresher.cli.lm.options import LanguageModelTrainingOptions, ShapeOptions
from thresher.lm.shape import Shape
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.settings import LanguageModelSettings

SMALL = "--width 16 --heads 2 --layers 1 --context 16 --batch 4".split()
QUICK = [*SMALL, "--steps", 20, "--evaluate-every", 10]


@pytest.fixture(autouse=True)
def _one_thread():
    """Models this small are slower with more threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    draw = random.Random(0)
    words = "the cat sat on a mat and then it ran off to see Rosa in Oslo".split()
    path = tmp_path_factory.mktemp("texts") / "novel.txt"
    lines = (f"{' '.join(draw.choices(words, k=8))}.\n" for _ in range(300))
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def lm(novel, tmp_path, run):
    folder = tmp_path / "my-lm"
    assert run("lm", "train", novel, "-o", folder, "--quiet", *QUICK).status == 0
    return folder


def test_the_summary_of_training_is_one_line(novel, tmp_path, run):
    folder = tmp_path / "my-lm"
    result = run("lm", "train", novel, "-o", folder, *QUICK)
    assert (result.status, result.err) == (0, "")
    learned = TrainedLanguageModel.read(folder)
    assert result.out.startswith(f"{folder}: ")
    assert f"loss {learned.test.loss:.4f} nats" in result.out
    assert result.out.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["my-lm"]


def test_the_log_is_also_written_for_tensorboard(novel, tmp_path, run):
    pytest.importorskip("tensorboard")
    folder, board = tmp_path / "my-lm", tmp_path / "board"
    result = run("lm", "train", novel, "-o", folder, *QUICK, "--quiet", "--tensorboard", board)
    assert (result.status, result.err) == (0, "")
    assert [file.name[:6] for file in board.iterdir()] == ["events"]


def test_the_options_reach_the_model(novel, tmp_path, run):
    folder = tmp_path / "my-lm"
    options = ["--tokens", "bpe", "--vocabulary", 280, "--objective", "masked", "--margin", "2:4"]
    more = ["--untied", "--no-embedding-decay", "--seed", 3, "--dropout", 0.1]
    result = run("lm", "train", novel, "-o", folder, *QUICK, *options, *more, "--json")
    summary = json.loads(result.out)
    learned = TrainedLanguageModel.read(folder)
    assert (summary["tokens"], summary["vocabulary"]) == ("bpe", 280)
    assert summary["parameters"] == sum(p.numel() for p in learned.model.parameters())
    assert summary["test"]["loss"] == learned.test.loss
    assert summary["test"]["bits_per_byte"] is None
    assert learned.architecture.shape == Shape(16, 1, 2, 16, causal=False, dropout=0.1)
    assert not learned.architecture.tied
    assert str(learned.settings.margin) == "2:4"
    assert learned.settings.seed == 3
    assert not learned.settings.decay_embeddings


def test_half_a_surrogate_pair_is_read_as_a_question_mark(novel, tmp_path, run):
    path = tmp_path / "novel.jsonl"
    record = {"text": f"\ud800{novel.read_text(encoding='utf-8')}"}
    path.write_text(json.dumps(record), encoding="utf-8")
    assert run("lm", "train", path, "-o", tmp_path / "lm", *QUICK).status == 0
    assert "?" in TrainedLanguageModel.read(tmp_path / "lm").tokenizer.names


def test_a_margin_changes_the_model(novel, lm, tmp_path, run):
    run("lm", "train", novel, "-o", tmp_path / "other", *QUICK, "--margin", 0)
    one, two = (
        TrainedLanguageModel.read(folder).model.embedding for folder in (lm, tmp_path / "other")
    )
    assert not torch.equal(one, two)


def without_log(path):
    """Return the config without the digest of the log, which contains times."""
    config = json.loads(path.read_text(encoding="utf-8"))
    del config["sha256"]["log.csv"]
    return config


def test_a_resumed_run_gives_the_same_model(novel, lm, tmp_path, run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    command = ["lm", "train", novel, "-o", tmp_path / "stopped", "--quiet", *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.lm.training.fit._finish", stop)
        answer = run(*command)
    assert answer.status == 130
    assert answer.error_line.startswith(
        "stopped; run the same command with --resume to continue from"
    )
    log = (tmp_path / "stopped.partial" / "log.csv").read_text()
    assert log.startswith("step,training_loss")
    assert run(*command, "--resume").status == 0
    for name in ("model.safetensors", "statistics.safetensors", "tokens.json"):
        assert (lm / name).read_bytes() == (tmp_path / "stopped" / name).read_bytes()
    assert without_log(lm / "config.json") == without_log(tmp_path / "stopped" / "config.json")
    assert not (tmp_path / "stopped.partial").exists()


def test_a_run_cannot_be_resumed_with_other_settings(novel, tmp_path, run, monkeypatch):
    command = ["lm", "train", novel, "-o", tmp_path / "stopped", "--quiet", *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.lm.training.fit._finish", lambda *_: 1 / 0)
        run(*command)
    for changed, difference in (
        (["--margin", 2], "other values of --margin"),
        (["--layers", 3, "--learning-rate", 0.5], "other values of --layers, --learning-rate"),
        (
            ["--objective", "masked", "--feed-forward", "gelu-tanh"],
            "other values of --objective, --feed-forward",
        ),
        (["--untied", "--no-embedding-decay"], "other values of --untied, --no-embedding-decay"),
    ):
        answer = run(*command, "--resume", *changed)
        assert answer.status == 1
        assert answer.error_line == (
            f"cannot resume from {tmp_path / 'stopped.partial' / 'checkpoint.safetensors'}: it was "
            f"started with {difference}; leave out --resume to start again"
        )
    (tmp_path / "other.txt").write_text("Another text about the same harbour. " * 200)
    command[2] = tmp_path / "other.txt"
    assert "it was started with other text; leave out" in run(*command, "--resume").error_line


def test_after_a_nan_loss_the_best_model_is_saved(novel, tmp_path, run, monkeypatch):
    evaluated = []

    def write_nan(parameters, _):
        evaluated.append(1)
        if len(evaluated) > 15:
            next(iter(parameters)).grad.fill_(math.nan)

    monkeypatch.setattr("torch.nn.utils.clip_grad_norm_", write_nan)
    answer = run("lm", "train", novel, "-o", tmp_path / "my-lm", *QUICK)
    assert answer.status == 1
    assert "training loss became NaN by step 20; try a lower --learning-rate" in answer.error_line
    assert f"the best model so far, from step 10, is in {tmp_path / 'my-lm'}" in answer.error_line
    assert TrainedLanguageModel.read(tmp_path / "my-lm").model.embedding.isfinite().all()


def test_eval_shows_the_test_results_of_training(lm, run):
    result = run("lm", "eval", lm)
    test = TrainedLanguageModel.read(lm).test
    assert result.status == 0
    for row in ("loss", "perplexity at T", "bits per byte", "accuracy"):
        assert re.search(rf"^ *{row} +[\d.]+ *$", result.out, re.MULTILINE), row
    group = r"^ *loss of ranks 1-10 +[\d.]+±[\d.]+ +[\d,]+ occurrences *$"
    assert re.search(group, result.out, re.MULTILINE)
    assert f"{test.loss:.4f}" in result.out
    figures = json.loads(run("lm", "eval", lm, "--json").out)
    assert figures["loss"] == test.loss
    assert figures["text"] is None


def test_eval_reads_other_texts(lm, tmp_path, run):
    path = tmp_path / "other.txt"
    path.write_text("the cat ran off to see Rosa.\n" * 10, encoding="utf-8")
    figures = json.loads(run("lm", "eval", lm, path, "--json").out)
    assert figures["tokens"] == 29 * 10 - 1
    nats = figures["loss"] * figures["tokens"]
    assert figures["bits_per_byte"] == pytest.approx(nats / math.log(2) / 289)
    refused = run("lm", "eval", lm, "--from", "text")
    assert (refused.status, refused.out) == (1, "")
    assert refused.error_line == "--from is the format of SOURCES; give at least one source"


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="pictures are an extra")
def test_a_report_compares_models(lm, novel, tmp_path, run):
    other = tmp_path / "deep" / "my-lm"
    run("lm", "train", novel, "-o", other, *QUICK, "--margin", 2)
    result = run("lm", "report", lm, other, "-o", tmp_path / "report", "--json")
    summary = json.loads(result.out)
    assert len(set(summary["models"])) == 2
    assert "gradient-roles.svg" in summary["files"]
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in summary["models"])
    assert "report.md: 1 model, 4 files" in run("lm", "report", lm, "-o", tmp_path / "one").out


def test_a_sample_begins_with_its_prompt_and_depends_on_the_seed(lm, run):
    drawn = [
        run("lm", "sample", lm, "--prompt", "the cat", "--length", 30, "--seed", seed).out
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0].startswith("the cat")
    assert len(drawn[0]) == len("the cat") + 30 + 1
    answer = json.loads(run("lm", "sample", lm, "--length", 5, "--json").out)
    assert len(answer["text"]) == 5


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "no text in"),
        ("\n \n", [], "no text in"),
        ("too short", [], "too short for a training, a validation"),
        ("short of the context\n" * 20, ["--context", 500], "(500); give more text"),
        ("word " * 200, ["--tokens", "bpe", "--vocabulary", 9000], "the text only gives"),
        ("word " * 200, ["--tokens", "words", "--vocabulary", 50], "the text only gives"),
        ("word " * 200, ["--vocabulary", 50], "cannot be chosen for characters"),
        ("word " * 200, ["--width", 30, "--heads", 4], "got 30 and 4"),
        ("word " * 200, ["--output-layer", "tree"], "'tree' cannot share the weights"),
        (
            "word " * 200,
            ["--output-layer", "tree", "--untied", "--margin", 2],
            "'tree' supports neither",
        ),
        ("word " * 200, ["--learning-rate", 0], "must be above 0"),
        ("word " * 200, ["--device", "gpu9"], "cannot use the device 'gpu9'"),
    ],
)
def test_bad_input_is_reported_in_one_line(tmp_path, run, text, options, message):
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    answer = run("lm", "train", path, "-o", tmp_path / "my-lm", *options)
    assert answer.status == 1
    assert message in answer.error_line
    assert answer.out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["text.txt"]


def test_unusable_models_and_texts_are_reported_in_one_line(lm, tmp_path, run):
    path = tmp_path / "other.txt"
    path.write_text("the cat\n日本", encoding="utf-8")
    assert "'日' (line 2) does not occur" in run("lm", "eval", lm, path).error_line
    assert "'%' (line 1) does not occur" in run("lm", "sample", lm, "--prompt", "%").error_line
    assert "no model folder" in run("lm", "eval", tmp_path / "none").error_line
    assert "is not a model" in run("lm", "sample", tmp_path).error_line
    assert (
        "the same model is given twice"
        in run("lm", "report", lm, lm, "-o", tmp_path / "report").error_line
    )


def test_an_entity_model_is_not_a_language_model(model, run):
    assert "is not a language model" in run("lm", "eval", model).error_line


def test_an_existing_model_is_replaced_only_with_force(novel, lm, run):
    before = (lm / "model.safetensors").read_bytes()
    answer = run("lm", "train", novel, "-o", lm, *QUICK, "--seed", 1)
    assert "add --force to replace it" in answer.error_line
    assert (lm / "model.safetensors").read_bytes() == before
    assert run("lm", "train", novel, "-o", lm, *QUICK, "--seed", 1, "--force").status == 0
    assert (lm / "model.safetensors").read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("lm", "Missing command"),
        ("lm tarin", "Did you mean 'train'?"),
        ("lm train x", "Missing option '--output'"),
        ("lm train x -o y --tokens word", "did you mean words?"),
        ("lm train x -o y --objective mask", "did you mean masked?"),
        ("lm train x -o y --margin wide", "a number of at least 0"),
        ("lm train x -o y --margin -1", "a number of at least 0"),
        ("lm train x -o y --steps 0", "Invalid value for '--steps': "),
        ("lm train x -o y --output-layer tre", "did you mean tree?"),
        ("lm report x", "Missing option '--output'"),
        ("lm sample x --temperature -1", "Invalid value for '--temperature': "),
    ],
)
def test_a_mistyped_command_is_answered_with_the_rule_or_choices(run, arguments, message):
    answer = run(*arguments.split())
    assert answer.status == 2
    assert message in answer.error_line


def test_choices_and_defaults_are_those_of_the_library():
    documented = {}
    for each in (*fields(ShapeOptions), *fields(LanguageModelTrainingOptions)):
        help_text = each.type.__metadata__[0].help
        if found := re.search(r"by default ([\d.]+)\.", help_text):
            documented[each.name] = float(found[1])
    defaults = {
        each.name: each.default for each in (*fields(Shape), *fields(LanguageModelSettings))
    }
    assert documented == {name: defaults[name] for name in documented}
    assert len(documented) == 12
