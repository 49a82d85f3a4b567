"""thresher fit --train-encoder, for a language without a pretrained encoder."""

import json
import re
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from thresher import EntityFinder
from thresher.atomic_files import write_folder
from thresher.cli.entities import fit_prior_options
from thresher.encoders.loading import load_encoder
from thresher.errors import InputError
from thresher.training_processes import Processes

QUICK = ["--epochs", "1", "--contrast", "0"]
AMHARIC = "አቶ ከበደ ወደ ኬንያ ሄዱ። ወይዘሮ አልማዝ ከጋና መጡ። የኬንያ ፓርቲ በጋና ነው። "


@pytest.fixture(autouse=True)
def real_encoders(run, monkeypatch):
    """Load encoders by name; other tests of commands always use the default one."""
    for place in ("thresher.entities.loading", "thresher.encoders.loading"):
        monkeypatch.setattr(f"{place}.load_encoder", load_encoder)


@pytest.fixture
def amharic(tmp_path):
    path = tmp_path / "amharic.txt"
    path.write_text(AMHARIC * 60, encoding="utf-8")
    return path


def test_an_encoder_is_trained_and_saved_beside_the_model(run, quick_encoders, amharic, tmp_path):
    result = run("fit", amharic, "-o", tmp_path / "m", "--train-encoder", *QUICK)
    assert (result.status, result.err) == (0, "")
    assert "Ethiopic script, no capitals; priors: burstiness" in result.out
    finder = EntityFinder.load(tmp_path / "m")
    assert finder.encoder.name == str(tmp_path / "m-encoder")
    assert finder.encoder.width == 16
    assert not list(tmp_path.glob("*.partial"))


def test_of_a_new_encoder_an_existing_one_and_both_the_best_is_chosen(
    run, quick_encoders, amharic, tmp_path
):
    run("fit", amharic, "-o", tmp_path / "m", "--train-encoder", *QUICK)
    options = ("--train-encoder", "--encoder", tmp_path / "m-encoder", "--json", *QUICK)
    result = run("fit", amharic, "-o", tmp_path / "n", *options)
    assert (result.status, result.err) == (0, "")
    summary = json.loads(result.out)
    own, existing = str(tmp_path / "n-encoder"), str(tmp_path / "m-encoder")
    assert list(summary["encoders"]) == [own, existing, f"{existing}+{own}"]
    assert summary["encoder"] == min(summary["encoders"], key=summary["encoders"].get)
    assert EntityFinder.load(tmp_path / "n").find("አቶ ከበደ ወደ ኬንያ ሄዱ።", threshold=0)


def test_a_trained_encoder_uses_the_chosen_layer(run, quick_encoders, amharic, tmp_path):
    run("fit", amharic, "-o", tmp_path / "m", "--train-encoder", "--layer", "1", *QUICK)
    finder = EntityFinder.load(tmp_path / "m")
    assert (finder.model.layer, finder.encoder.layer) == (1, 1)


def test_a_model_and_its_encoder_can_be_moved_together(run, quick_encoders, amharic, tmp_path):
    run("fit", amharic, "-o", tmp_path / "m", "--train-encoder", *QUICK)
    (tmp_path / "moved").mkdir()
    for name in ("m", "m-encoder"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    finder = EntityFinder.load(tmp_path / "moved" / "m")
    assert finder.encoder.name == str(tmp_path / "moved" / "m-encoder")


def test_a_trained_encoder_can_be_used_for_other_models(run, quick_encoders, amharic, tmp_path):
    run("fit", amharic, "-o", tmp_path / "a", "--train-encoder", *QUICK)
    result = run(
        *["fit", amharic, "-o", tmp_path / "b", "--encoder", tmp_path / "a-encoder"],
        *["--cldr", "am", "--dates", "--json", "--quiet", *QUICK],
    )
    summary = json.loads(result.out)
    assert summary["writing"] == "Ethiopic script, no capitals"
    assert summary["priors"] == ["burstiness"]
    learned_from = EntityFinder.load(tmp_path / "b").model.learned_from
    assert learned_from["names"] > 400
    assert learned_from["dates"]


def test_mixed_scripts_are_reported(run, quick_encoders, amharic, tmp_path):
    mixed = AMHARIC * 60 + "Marie and her brother went to Paris today. " * 60
    amharic.write_text(mixed, encoding="utf-8")
    result = run("fit", amharic, "-o", tmp_path / "m", "--train-encoder", *QUICK)
    assert "Ethiopic 52% and Latin 48% scripts" in result.err
    assert "burstiness prior for the others" in result.err
    assert "priors: burstiness, casing" in result.out


@pytest.mark.parametrize(("rank", "count"), [(0, 1), (1, 0)])
def test_only_the_first_process_reports(run, amharic, tmp_path, monkeypatch, rank, count):
    mixed = [["ከበደ", "ወደ", "ኬንያ", "ሄዱ"], ["Marie", "went", "to", "Paris"]]
    monkeypatch.setattr(
        "thresher.entities.training.raw_text.stored_sentences",
        lambda *_: nullcontext(mixed),
    )
    monkeypatch.setattr(
        "thresher.training_processes.join_processes",
        lambda device: nullcontext((Processes(rank, 2), device)),
    )
    monkeypatch.setattr(Processes, "wait", lambda _: None)
    monkeypatch.setattr("thresher.cli.entities.fit_encoder.load_encoder", lambda *_, **__: object())
    monkeypatch.setattr(EntityFinder, "fit_words", lambda *_, **__: SimpleNamespace(save=print))
    monkeypatch.setattr("thresher.cli.entities.fit._summary", lambda *_: None)
    result = run("fit", amharic, "-o", tmp_path / "m")
    assert result.status == 0
    assert result.err.count("burstiness prior for the others") == count


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoder-size", "large"], "add --train-encoder"),
        (["--encoder-size", "huge", "--train-encoder"], "'small', 'large'"),
        (["--cldr", "xx"], "CLDR has no language 'xx'"),
        (["--surprisal", "x"], "add --prior surprisal"),
        (["--prior", "surprisal"], "needs a causal language model; add --surprisal FOLDER"),
        (["--prior", "surprisal", "--surprisal", "x"], "there is no model folder x"),
        (["--train-encoder"], "too few to train an encoder on; give at least 10,000"),
        (
            ["--train-encoder", "--layer", "5"],
            "--layer must be between 1 and 4, got 5",
        ),
    ],
)
def test_invalid_options_are_reported_in_one_line(run, amharic, tmp_path, options, message):
    result = run("fit", amharic, "-o", tmp_path / "m", *options, *QUICK)
    assert result.status != 0
    assert message in result.err
    assert not (tmp_path / "m").exists()


def test_a_missing_language_model_is_reported_before_an_encoder_is_trained(
    run, quick_encoders, amharic, tmp_path
):
    fit = ["fit", amharic, "-o", tmp_path / "m", "--train-encoder", "--prior", "surprisal", *QUICK]
    for more in ([], ["--surprisal", tmp_path / "none"]):
        assert run(*fit, *more).status == 1
        assert [file.name for file in tmp_path.iterdir()] == ["amharic.txt"]


def test_surprisal_comes_from_a_causal_model(run, quick_encoders, amharic, tmp_path):
    quick = "--steps 2 --batch 2 --width 16 --layers 1 --heads 1 --context 16".split()
    lm = ["lm", "train", amharic, "-o", tmp_path / "lm", *quick]
    assert run(*lm, "--tokens", "word-pairs").status == 0
    fit = ["fit", amharic, "-o", tmp_path / "m", "--train-encoder", "--prior", "surprisal"]
    assert run(*fit, "--surprisal", tmp_path / "lm", *QUICK).status == 0
    assert EntityFinder.load(tmp_path / "m").model.learned_from["priors"] == ["surprisal"]


def test_a_model_with_other_tokens_is_not_an_encoder(run, amharic, tmp_path):
    quick = "--steps 2 --batch 2 --width 16 --layers 1 --heads 1 --context 16".split()
    lm = ["lm", "train", amharic, "-o", tmp_path / "lm", "--objective", "masked", *quick]
    run(*lm, "--tokens", "characters")
    result = run("fit", amharic, "-o", tmp_path / "m", "--encoder", tmp_path / "lm", *QUICK)
    assert (
        "has the tokens characters; an encoder of words needs a language model with word-pairs"
        in (result.err)
    )


def test_a_stopped_run_continues_with_its_finished_encoder(
    run, quick_encoders, amharic, tmp_path, monkeypatch
):
    fit = ["fit", amharic, "-o", tmp_path / "m", "--train-encoder", *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.model_folder.write_folder", _only("m-encoder"))
        assert run(*fit).status != 0
    assert (tmp_path / "m-encoder").is_dir()
    assert not (tmp_path / "m").exists()
    with monkeypatch.context() as patch:
        patch.setattr("thresher.encoders.training.train_encoder", None)  # not trained again
        assert run(*fit, "--resume").status == 0
    assert EntityFinder.load(tmp_path / "m").encoder.name == str(tmp_path / "m-encoder")


def _only(name):
    """Return a function that writes folders of that name and fails for others."""

    def write(path, files):
        if path.name != name:
            raise InputError("the disk is full")
        write_folder(path, files)

    return write


@pytest.mark.parametrize(("dictionary", "count"), [(False, 1), (True, 0)])
def test_a_script_without_spaces_is_reported_if_there_is_no_dictionary(
    dictionary, count, monkeypatch
):
    notes = []
    progress = SimpleNamespace(note=notes.append)
    monkeypatch.setattr(fit_prior_options, "has_word_dictionary", lambda: dictionary)
    fit_prior_options.prior_knowledge([["北", "京", "大", "学"]], progress, surprisal_model=None)
    assert (
        sum(bool(re.search("every character is treated as a word", note)) for note in notes)
        == count
    )
    assert len(notes) == count
