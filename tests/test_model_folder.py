"""A model folder is read back as it was written, or refused with one line."""

import json

import pytest

from thresher.errors import InputError
from thresher.model_folder import FolderLayout, config_errors_as_input_errors

LAYOUT = FolderLayout(
    "example model", version=2, files=("weights.bin", "words.txt"), made_by="thresher example"
)
FILES = {"weights.bin": b"\x00\xff", "words.txt": "höö\n".encode()}
CONFIG = {"layers": 2, "name": "Ö"}


@pytest.fixture
def folder(tmp_path):
    LAYOUT.write(tmp_path / "model", CONFIG, FILES, card="# An example\n")
    return tmp_path / "model"


def test_reading_returns_what_was_written(folder):
    config, files = LAYOUT.read(folder)
    assert files == FILES
    assert CONFIG.items() <= config.items()
    assert (folder / "README.md").read_text(encoding="utf-8") == "# An example\n"


@pytest.mark.parametrize(
    ("harm", "error_line"),
    [
        (lambda f: (f / "words.txt").unlink(), "is incomplete: cannot read words.txt"),
        (lambda f: (f / "weights.bin").write_bytes(b"\x00"), "was changed after"),
        (lambda f: (f / "config.json").unlink(), "has no config.json"),
        (lambda f: (f / "config.json").write_text("{"), "not valid JSON"),
        (
            lambda f: (f / "config.json").write_text("[]"),
            "is not an example model; thresher example makes",
        ),
        (lambda f: edit(f, kind="other"), "is not an example model"),
        (lambda f: edit(f, format=3), "has format 3; this version reads format 2"),
        (lambda f: edit(f, sha256=None), "does not describe a model"),
    ],
)
def test_errors_have_one_line(folder, harm, error_line):
    harm(folder)
    with pytest.raises(InputError, match=error_line) as raised:
        LAYOUT.read(folder)
    assert "\n" not in str(raised.value)


def test_a_missing_folder_is_reported_with_a_similar_name(folder):
    with pytest.raises(InputError, match=r"no model folder .*; did you mean model\?"):
        LAYOUT.read(folder.with_name("modle"))


def test_errors_while_building_a_model_have_one_line(folder):
    with (
        pytest.raises(InputError, match="does not describe a model: two lines"),
        config_errors_as_input_errors(folder),
    ):
        raise RuntimeError("two\nlines")


def edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
