"""thresher fit: train a model on raw text that find can use."""

import errno
import json
import os

import pytest
from safetensors.torch import load_file, save

from thresher import EntityFinder
from thresher.encoders.loading import load_encoder
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES

QUICK = ["--epochs", "2", "--contrast", "0"]


def learned_from(folder):
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))["learned_from"]


def files_of(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


def test_the_summary_is_one_line(run, short_corpus, tmp_path):
    result = run("fit", short_corpus, "-o", tmp_path / "m", *QUICK)
    assert (result.status, result.err) == (0, "")
    record = learned_from(tmp_path / "m")
    assert result.out.count("\n") == 1
    assert f"{record['words']:,} words in {record['sentences']:,} sentences" in result.out
    finder = EntityFinder.load(tmp_path / "m")
    assert f"threshold {finder.threshold:.2f}" in result.out
    assert f"capital {finder.model.signal_weights.capital:+.2f}" in result.out
    assert names_in(tmp_path) == ["m"]


def test_the_json_summary_has_the_same_content(run, short_corpus, tmp_path):
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--json", "--quiet", *QUICK)
    summary = json.loads(result.out)
    finder = EntityFinder.load(tmp_path / "m")
    assert summary["threshold"] == finder.threshold
    assert summary["words"] == learned_from(tmp_path / "m")["words"]
    assert 0 <= summary["selected"] <= 1


def test_quiet_prints_nothing(run, short_corpus, tmp_path):
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--quiet", *QUICK)
    assert (result.status, result.out, result.err) == (0, "", "")


def test_options_reach_the_library(run, short_corpus, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("Magda Nowak\nOslo\n", encoding="utf-8")
    words = "--prior casing --prior rarity --expect capitalised=0.8 --expect lower=0.1".split()
    words += "--selected 0.2 --epochs 3 --seed 7 --contrast 0.2 --contrast-share 0.3".split()
    words += "--target-rate 0.25 --gates-at pool --form continuous --not-names none".split()
    words += "--temperature 0.2 --complement 1 --continuity 0.3 --agreement 2".split()
    words += "--gate-threshold 0.4".split()
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--names", names, *words)
    assert result.status == 0
    record = learned_from(tmp_path / "m")
    chosen = {
        "epochs": 3,
        "seed": 7,
        "contrast": 0.2,
        "contrast_share": 0.3,
        "target_rate": 0.25,
        "gates_at": "pool",
        "form": "continuous",
        "temperature": 0.2,
        "complement": 1.0,
        "continuity": 0.3,
        "agreement": 2.0,
        "gate_threshold": 0.4,
    }
    assert record["settings"].items() >= chosen.items()
    assert record["priors"] == ["casing", "rarity"]
    assert record["rates"] == {"capitalised": 0.8, "lower": 0.1}
    assert record["selected"] == 0.2
    assert record["names"] == 3
    model = EntityFinder.load(tmp_path / "m").model
    assert model.not_names == frozenset()
    assert model.selector.gate_options == {"threshold": 0.4}


def test_stretched_gates_have_bounds_and_other_gates_a_threshold(run, short_corpus, tmp_path):
    bounds = ["--stretch-lower", "-0.2", "--stretch-upper", "1.3"]
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--form", "stretched", *bounds, *QUICK)
    assert result.status == 0
    finder = EntityFinder.load(tmp_path / "m")
    assert finder.model.selector.gate_options == {"lower": -0.2, "upper": 1.3}
    assert finder.gates([["Oslo"]]).opening == pytest.approx(0.2 / 1.5)
    refused = run("fit", short_corpus, "-o", tmp_path / "n", *bounds)
    assert "--stretch-lower" in refused.error_line
    words = ["--form", "stretched", "--gate-threshold", "0.4"]
    assert "--gate-threshold" in run("fit", short_corpus, "-o", tmp_path / "n", *words).error_line


def test_another_layer_of_the_encoder_can_be_chosen(run, short_corpus, tmp_path):
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--layer", "2", *QUICK)
    assert result.status == 0
    finder = EntityFinder.load(tmp_path / "m")
    assert (finder.model.layer, finder.encoder.layer) == (2, 2)
    result = run("fit", short_corpus, "-o", tmp_path / "n", "--layer", "7", *QUICK)
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "must be between 1 and 6, got 7" in result.err
    assert not (tmp_path / "n").exists()


def test_not_names_come_from_a_file_or_the_english_list(run, short_corpus, tmp_path):
    listed = tmp_path / "not-names.txt"
    listed.write_text("Harbour\nQuay\n", encoding="utf-8")
    run("fit", short_corpus, "-o", tmp_path / "a", "--not-names", listed, *QUICK)
    run("fit", short_corpus, "-o", tmp_path / "b", *QUICK)
    assert EntityFinder.load(tmp_path / "a").model.not_names == {"harbour", "quay"}
    assert EntityFinder.load(tmp_path / "b").model.not_names == ENGLISH_NOT_NAMES


def test_a_model_is_replaced_only_with_force(run, short_corpus, tmp_path):
    folder = tmp_path / "m"
    run("fit", short_corpus, "-o", folder, *QUICK)
    before = files_of(folder)
    refused = run("fit", short_corpus, "-o", folder, *QUICK, "--seed", "1")
    assert refused.status == 1
    assert refused.error_line == f"{folder} already contains a model; add --force to replace it"
    assert files_of(folder) == before
    assert run("fit", short_corpus, "-o", folder, *QUICK, "--seed", "1", "--force").status == 0
    assert learned_from(folder)["settings"]["seed"] == 1


def test_a_folder_that_is_not_a_model_is_never_replaced(run, short_corpus, tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("precious", encoding="utf-8")
    result = run("fit", short_corpus, "-o", folder, "--force", *QUICK)
    assert result.status == 1
    assert "is not a model" in result.error_line
    assert files_of(folder) == {"chapter.txt": b"precious"}


def test_a_folder_that_only_looks_like_a_work_folder_is_unchanged(run, short_corpus, tmp_path):
    folder = tmp_path / "m.partial"
    folder.mkdir()
    (folder / "chapter.txt").write_text("precious", encoding="utf-8")
    result = run("fit", short_corpus, "-o", tmp_path / "m", *QUICK)
    assert result.status == 1
    assert f"{folder} is needed for temporary files" in result.error_line
    assert files_of(folder) == {"chapter.txt": b"precious"}


def test_too_little_text_is_refused_and_no_files_remain(run, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("Magda left Oslo.", encoding="utf-8")
    result = run("fit", path, "-o", tmp_path / "m")
    assert result.status == 1
    assert "are too few to learn from" in result.error_line
    assert names_in(tmp_path) == ["short.txt"]


def test_collapsed_gates_are_reported(run, short_corpus, tmp_path):
    rates = "--expect capitalised=0.9 --expect lower=0.9 --selected 0.9".split()
    command = ["fit", short_corpus, "-o", tmp_path / "m", "--quiet", "--contrast", 0]
    result = run(*command, "--epochs", 40, *rates)
    assert result.status == 0
    assert result.error_line.startswith("warning: the gates have collapsed")  # once


def test_training_can_be_resumed_after_a_full_disk(run, short_corpus, tmp_path, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    command = ["fit", short_corpus, "-o", tmp_path / "m", *QUICK, "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.model_folder.write_folder", no_room)
        result = run(*command)
    assert result.status == 1
    assert "No space left on device" in result.error_line
    assert names_in(tmp_path) == ["m.partial"]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.entities.training.run.cache_vectors", None)  # nothing is read again
        assert run(*command, "--resume").status == 0
    assert names_in(tmp_path) == ["m"]


def test_a_run_with_other_settings_is_not_resumed(run, short_corpus, tmp_path, monkeypatch):
    command = ["fit", short_corpus, "-o", tmp_path / "m", *QUICK, "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.model_folder.write_folder", None)
        run(*command)
    for other in (["--seed", "5"], ["--layer", "3"]):
        result = run(*command, *other, "--resume")
        assert result.status == 1
        assert "it was started with other text or settings" in result.error_line


def test_a_run_with_an_encoder_whose_weights_changed_is_not_resumed(
    run, short_corpus, tmp_path, monkeypatch, new_bert, load_once
):
    """The folder has the same name, so only its content shows that it is another encoder."""
    words = short_corpus.read_text(encoding="utf-8").lower().split()[:50]
    encoder = new_bert(sorted(set(words)), width=16, layers=2, mask=True)
    monkeypatch.setattr("thresher.encoders.loading.load_encoder", load_encoder)
    command = ["fit", short_corpus, "-o", tmp_path / "m", "--encoder", encoder, *QUICK, "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("thresher.model_folder.write_folder", None)
        assert run(*command).status == 1
    weights = {name: each * 2 for name, each in load_file(encoder / "model.safetensors").items()}
    (encoder / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    result = run(*command, "--resume")
    assert result.status == 1
    assert "another encoder; leave out --resume to start again" in result.error_line
    assert run(*command).status == 0


def test_an_unreadable_line_does_not_stop_training(run, short_corpus, tmp_path):
    path = tmp_path / "notes.jsonl"
    record = json.dumps({"text": short_corpus.read_text(encoding="utf-8")})
    path.write_text(f"{record}\nnonsense\n", encoding="utf-8")
    result = run("fit", path, "-o", tmp_path / "m", *QUICK)
    assert result.status == 1
    assert f"{path} line 2: " in result.error_line
    assert EntityFinder.load(tmp_path / "m").find("Magda left Oslo.") is not None


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (
            "auto",
            "--kinds auto is only for finding; fit learns kinds from a file of names: "
            "thresher kinds discovers kinds and writes such a file",
        ),
        (
            "none",
            "--kinds none is only for finding; fit learns kinds from a file of names: "
            "leave out --kinds for a model without kinds",
        ),
        ("absent.toml", "there is no file of kinds absent.toml; give a file of example names"),
    ],
)
def test_kinds_without_a_file_are_explained(run, short_corpus, tmp_path, kinds, message):
    result = run("fit", short_corpus, "-o", tmp_path / "model", "--kinds", kinds)
    assert result.status == 1
    assert result.error_line == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("encoder", ["", "my-lm,", ",,"])
def test_an_empty_name_of_an_encoder_is_not_the_default_one(run, short_corpus, tmp_path, encoder):
    result = run("fit", short_corpus, "-o", tmp_path / "model", "--encoder", encoder)
    assert (result.status, list(tmp_path.iterdir())) == (1, [])
    assert result.error_line == (
        f"--encoder must be a name, or several with commas, got {encoder!r}"
    )
