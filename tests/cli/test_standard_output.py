"""The output - is standard output, and is refused for what cannot be written there."""

import pytest
from tests.typed_finder import TypedFinder

from thresher.bulk.finder_choice import FinderChoice

TEXT = "Magda left Oslo.\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(FinderChoice, "load", lambda self: TypedFinder())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["find", "entities"])
@pytest.mark.parametrize("to", [[], ["--to", "csv"]])
def test_a_hyphen_is_standard_output(run, folder, command, to):
    expected = run(command, "notes.txt", *to)
    assert "Oslo" in expected.out
    assert run(command, "notes.txt", *to, "-o", "-") == expected
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("command", ["find", "entities"])
def test_parquet_is_refused(run, folder, command):
    result = run(command, "notes.txt", "--to", "parquet", "-o", "-")
    assert result.status == 1
    assert "Parquet is not written to standard output" in result.error_line


def test_a_bulk_run_is_refused(run, folder):
    result = run("find", "notes.txt", "--engine", "ray", "-o", "-")
    assert result.status == 1
    assert "give a folder" in result.error_line


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "notes.txt", "-o"],
        ["distill", "english", "notes.txt", "-o"],
        ["lm", "train", "notes.txt", "-o"],
        ["lm", "export", "my-lm", "-o"],
        ["lm", "report", "my-lm", "-o"],
        ["rationale", "fit", "notes.txt", "-o"],
        ["entities", "notes.txt", "--graph"],
    ],
    ids=" ".join,
)
def test_folders_and_graphs_are_refused(run, folder, command):
    result = run(*command, "-")
    assert result.status == 2
    assert "not written to standard output; give a name instead of -" in result.error_line
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]
