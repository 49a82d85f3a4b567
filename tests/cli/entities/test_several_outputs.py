"""Commands with several outputs check all of them before they read a text or load a model."""

import pytest

from thresher.bulk.finder_choice import FinderChoice


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a text and a subfolder, in which no model can be loaded."""

    def load(self):
        pytest.fail("a model was loaded")

    monkeypatch.setattr(FinderChoice, "load", load)
    monkeypatch.setattr(FinderChoice, "load_entity_finder", load)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("Magda left Oslo.", encoding="utf-8")
    (tmp_path / "subfolder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("entities -o e.csv --graph e.csv", "two outputs have the name e.csv"),
        ("entities -o e.csv --graph subfolder/../e.csv", "two outputs have the name subfolder/.."),
        ("entities --graph e.svg --plot e.svg", "two outputs have the name e.svg"),
        ("entities -o e.csv --plot notes.svg --graph notes.txt", "notes.txt is one of the sources"),
        ("entities --graph subfolder", "cannot write subfolder: it is a folder"),
        ("kinds -o e.svg --plot e.svg", "two outputs have the name e.svg"),
        ("kinds -o missing/e.toml", "cannot write missing/e.toml: there is no folder missing"),
        ("kinds --plot missing/e.svg", "cannot write missing/e.svg: there is no folder missing"),
        ("kinds -o subfolder", "cannot write subfolder: it is a folder"),
        ("kinds --plot notes.txt", "notes.txt is one of the sources"),
    ],
)
def test_outputs_that_cannot_be_written_are_refused_at_once(run, folder, options, message):
    command, *options = options.split()
    result = run(command, "notes.txt", *options)
    assert (result.status, result.out) == (1, "")
    assert result.error_line.startswith(message)
    assert {each.name for each in folder.iterdir()} == {"notes.txt", "subfolder"}


def test_a_single_group_is_refused_at_once(run, folder):
    result = run("kinds", "notes.txt", "--groups", 1)
    assert result.status == 2
    assert "greater than or equal to 2" in result.error_line
