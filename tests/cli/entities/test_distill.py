"""thresher distill: a student of a model made from letters."""

import json

import pytest

from thresher import EntityFinder


@pytest.fixture(autouse=True)
def few_steps(minilm, monkeypatch):
    """A student that starts from embeddings, and learns for a moment."""
    monkeypatch.setattr("thresher.entities.training.student._MIN_STEPS", 5)
    monkeypatch.setattr(type(minilm), "token_vectors", lambda self: self._embeddings)


def test_the_student_agrees_with_its_teacher_on_what_it_was_not_taught(
    run, model, corpus, tmp_path
):
    folder = tmp_path / "fast"
    told = run("distill", model, corpus, "-o", folder, "--json", "--quiet", "--epochs", 50)
    assert (told.status, told.err) == (0, "")
    summary = json.loads(told.out)
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
    told = run("distill", model, short_corpus, "-o", folder, "--epochs", 1)
    assert told.status == 0
    assert told.out.startswith(f"{folder}: distilled from {model} on ")
    assert told.out.count("\n") == 1
    assert "2 held-out sentences: span F1 " in told.out


def test_text_without_entities_has_nothing_to_agree_on(run, model, tmp_path):
    text = tmp_path / "plain.txt"
    text.write_text("the rain fell on the old roof and the door . \n\n" * 40, encoding="utf-8")
    told = run("distill", model, text, "-o", tmp_path / "fast", "--epochs", 1, "--seed", 1)
    assert told.status == 0
    assert "no entities in the held-out sentences" in told.out


def test_a_student_cannot_teach(run, model, short_corpus, tmp_path):
    folder = tmp_path / "fast"
    run("distill", model, short_corpus, "-o", folder)
    told = run("distill", folder, short_corpus, "-o", tmp_path / "again")
    assert told.status == 1
    assert told.complaint == (
        "the encoder static does not give the vectors of its tokens; "
        "the teacher must be a model with a transformer"
    )


def test_what_is_there_is_not_replaced_unasked(run, model, corpus, tmp_path):
    told = run("distill", model, corpus, "-o", model)
    assert told.status == 1
    assert "--force" in told.complaint
    told = run("distill", tmp_path / "none", corpus, "-o", tmp_path / "fast")
    assert "there is no model folder" in told.complaint
    told = run("distill", model, tmp_path / "none.txt", "-o", tmp_path / "fast")
    assert "no such file" in told.complaint
