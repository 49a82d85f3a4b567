"""thresher export, and finding with the file it writes."""

import json
import sys

import pytest

from thresher.cli import main

TEXT = "Magda wrote the letter to Rosa."


def spans(capsys, *options):
    assert main(["find", TEXT, "--to", "jsonl", "-q", *options]) == 0
    return json.loads(capsys.readouterr().out)["spans"]


def test_find_gives_the_same_entities_with_the_exported_file(small, tmp_path, capsys):
    path = tmp_path / "model.onnx"
    assert main(["export", "--model", str(small), "-o", str(path), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["bytes"] == path.stat().st_size
    expected = spans(capsys, "--model", str(small), "--exact")
    assert expected
    written = path.read_bytes()
    again = ["export", "--model", "fast-english", "-o", str(path), "-q"]
    assert main(again) == 1
    error = f"thresher: {path} exists; choose another file, or add --force to replace it\n"
    assert capsys.readouterr().err == error
    assert path.read_bytes() == written
    for ours, theirs in zip(expected, spans(capsys, "--model", str(path)), strict=True):
        assert theirs == ours | {"score": pytest.approx(ours["score"], abs=1e-5)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "-o", "model.bin"], "must end in .onnx"),
        (
            ["export", "-o", "folder.onnx", "--force"],
            "folder.onnx is a folder; choose another name",
        ),
        (["find", TEXT, "--model", "absent.onnx"], "cannot read absent.onnx"),
        (["kinds", "notes.txt", "--model", "absent.onnx", "-q"], "is an ONNX file"),
        (
            ["find", TEXT, "--model", "a.onnx", "--device", "cuda"],
            "--device must be cpu for an ONNX",
        ),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "folder.onnx").mkdir()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_the_extra_the_command_is_named(small, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    assert main(["export", "--model", str(small), "-o", str(tmp_path / "m.onnx"), "-q"]) == 1
    error = capsys.readouterr().err
    assert "pip install '.[onnx]'" in error
    assert list(tmp_path.iterdir()) == []


def test_force_replaces_an_existing_file(small, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    assert main(["export", "--model", str(small), "-o", str(path), "-q", "--force"]) == 0
    assert len(path.read_bytes()) > 1000
