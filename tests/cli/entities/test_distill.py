"""thresher distill: train a student and report its agreement with the teacher."""

import json

import pytest

from thresher import EntityFinder


@pytest.fixture(autouse=True)
def few_steps(minilm, monkeypatch):
    """Use token embeddings as token vectors, and few training steps."""
    monkeypatch.setattr("thresher.entities.training.student._MIN_STEPS", 5)
    monkeypatch.setattr(type(minilm), "token_vectors", lambda self: self._embeddings)


def test_student_and_teacher_agree_on_held_out_sentences(run, model, corpus, tmp_path):
    folder = tmp_path / "fast"
    result = run("distill", model, corpus, "-o", folder, "--json", "--quiet", "--epochs", 50)
    assert (result.status, result.err) == (0, "")
    summary = json.loads(result.out)
    assert summary["held_out"] == 15
    assert summary["sentences"] == 285
    assert summary["teacher"] == str(model)
    assert summary["agreement"] > 0.8
    assert summary["bytes"] == sum(file.stat().st_size for file in folder.iterdir())
    found = run("find", "-", "--model", folder, stdin="In Oslo the old boats are counted by Rosa.")
    spans = json.loads(found.out)["spans"]
    assert [span["text"] for span in spans] == ["Oslo", "Rosa"]
    assert EntityFinder.load(folder).encoder.name == "static"


def test_the_summary_is_a_line(run, model, short_corpus, tmp_path):
    folder = tmp_path / "fast"
    result = run("distill", model, short_corpus, "-o", folder, "--epochs", 1)
    assert result.status == 0
    assert result.out.startswith(f"{folder}: distilled from {model} on ")
    assert result.out.count("\n") == 1
    assert "2 held-out sentences: span F1 " in result.out


def test_without_entities_no_agreement_is_reported(run, model, tmp_path):
    text = tmp_path / "plain.txt"
    text.write_text("the rain fell on the old roof and the door . \n\n" * 40, encoding="utf-8")
    result = run("distill", model, text, "-o", tmp_path / "fast", "--epochs", 1, "--seed", 1)
    assert result.status == 0
    assert "no entities in the held-out sentences" in result.out


def test_a_student_cannot_be_a_teacher(run, model, short_corpus, tmp_path):
    folder = tmp_path / "fast"
    run("distill", model, short_corpus, "-o", folder)
    result = run("distill", folder, short_corpus, "-o", tmp_path / "again")
    assert result.status == 1
    assert result.error_line == (
        "the encoder static does not give the vectors of its tokens; "
        "the teacher must be a model with a transformer"
    )


def test_an_existing_model_is_replaced_only_with_force(run, model, corpus, tmp_path):
    result = run("distill", model, corpus, "-o", model)
    assert result.status == 1
    assert "--force" in result.error_line
    result = run("distill", tmp_path / "none", corpus, "-o", tmp_path / "fast")
    assert "there is no model folder" in result.error_line
    result = run("distill", model, tmp_path / "none.txt", "-o", tmp_path / "fast")
    assert "no such file" in result.error_line
