"""Every error is one line on standard error and a non-zero status; no partial output is left."""

import errno
import json
import os
from pathlib import Path

import pytest

from thresher.cli.errors import MAX_SHOWN
from thresher.cli.output import open_output


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Magda left Oslo.", encoding="utf-8")
    return path


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


BAD_FILES = {
    "empty": (b"", "no text in"),
    "blank": (b" \n\n\t\n", "no text in"),
    "binary": (bytes(range(256)) * 8, "is not text"),
    "utf-16": (
        "Magda left Oslo.".encode("utf-16"),
        "is UTF-16 text; convert it to UTF-8, or give --encoding utf-16",
    ),
}


@pytest.mark.parametrize("command", ["find", "fit"])
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_without_text_is_refused(run, tmp_path, command, kind):
    content, message = BAD_FILES[kind]
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    result = run(command, path, "-o", tmp_path / "out")
    assert result.status == 1
    assert message in result.error_line
    assert str(path) in result.error_line
    assert names_in(tmp_path) == ["bad.txt"]


@pytest.mark.parametrize("command", ["find", "fit", "eval"])
def test_a_missing_file_and_an_empty_folder_are_reported(run, tmp_path, command):
    out = ["-o", tmp_path / "out"] if command != "eval" else []
    missing = run(command, tmp_path / "none.txt", *out)
    assert (missing.status, missing.out) == (1, "")
    assert missing.error_line == f"no such file: {tmp_path / 'none.txt'}"
    empty = run(command, tmp_path, *out)
    assert (empty.status, empty.out) == (1, "")
    assert f"no text in folder {tmp_path}" in empty.error_line


def test_invalid_utf_8_is_reported_with_its_line_and_still_read(run, tmp_path, model):
    path = tmp_path / "latin.txt"
    path.write_bytes("Magda left.\nShe saw Malmö.\nElias left.\n".encode("latin-1"))
    result = run("find", path, "--model", model)
    assert result.status == 1
    assert f"{path} line 2: not valid UTF-8" in result.error_line
    assert [span["text"] for span in json.loads(result.out)["spans"]][-1] == "Elias"


def test_a_line_of_five_megabytes_has_correct_offsets(run, tmp_path, model):
    gap = " " * 250_000
    text = gap.join(["Magda left Oslo ."] * 20)
    assert len(text) > 4_700_000
    path = tmp_path / "long.txt"
    path.write_text(text, encoding="utf-8")
    result = run("find", path, "--model", model)
    assert (result.status, result.err) == (0, "")
    found = []
    for record in map(json.loads, result.out.splitlines()):
        for span in record["spans"]:
            start = record["offset"] + span["start"]
            assert text[start : start + len(span["text"])] == span["text"]
            found.append(span["text"])
    assert found == ["Magda", "Oslo"] * 20


def test_a_field_that_no_line_has_does_not_flood_the_terminal(run, tmp_path, model):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"body": "Magda left."}\n' * (MAX_SHOWN + 30), encoding="utf-8")
    none = run("find", path, "--model", model)
    assert none.status == 1
    *problems, counted, conclusion = none.err.splitlines()
    assert [line.rpartition(" line ")[2].partition(":")[0] for line in problems] == [
        str(number) for number in range(1, MAX_SHOWN + 1)
    ]
    assert (
        counted
        == f"thresher: more than {MAX_SHOWN} problems with the input; not showing the others"
    )
    assert conclusion == f"thresher: no text in {path}"
    with path.open("a", encoding="utf-8") as file:
        file.write('{"text": "Magda left."}\n')
    some = run("find", path, "--model", model)
    assert (some.status, some.out.count("\n")) == (1, 1)
    assert some.err.splitlines()[-1] == (
        f"thresher: {MAX_SHOWN + 30} problems with the input, the first {MAX_SHOWN} shown above; "
        "the rest was processed"
    )


@pytest.mark.parametrize("command", ["find", "fit"])
def test_standard_input_is_named_in_errors(run, tmp_path, command):
    out = ["-o", tmp_path / "out"]
    assert run(command, "-", *out, stdin="").error_line == "no text in standard input"


def test_an_invalid_parquet_file_is_reported(run, tmp_path):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 but not really")
    result = run("find", path)
    assert result.status == 1
    assert "is not a readable Parquet file" in result.error_line


def damaged(model, folder, change):
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    change(folder)
    return folder


def reconfigured(**values):
    def change(folder):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(config | values), encoding="utf-8")

    return change


DAMAGED_MODELS = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "is not a model"),
    "no weights": (lambda folder: (folder / "selector.safetensors").unlink(), "is incomplete"),
    "half a config": (lambda f: (f / "config.json").write_text('{"format": '), "not valid JSON"),
    "changed weights": (
        lambda folder: (folder / "selector.safetensors").write_bytes(b"\0" * 100),
        "was changed after the model was saved",
    ),
    "changed words": (
        lambda folder: (folder / "ordinary.txt").write_text("oslo\n", encoding="utf-8"),
        "was changed after the model was saved",
    ),
    "another version": (reconfigured(format=99), "has format 99; this version reads format"),
    "another width": (reconfigured(hidden=7), "does not describe a model"),
    "nonsense": (reconfigured(trust=5), "does not describe a model"),
}


@pytest.mark.parametrize("command", ["find", "eval"])
@pytest.mark.parametrize("kind", DAMAGED_MODELS)
def test_a_damaged_model_is_refused(run, model, tmp_path, command, kind):
    change, message = DAMAGED_MODELS[kind]
    folder = damaged(model, tmp_path / "model", change)
    source = tmp_path / "source.conll"
    source.write_text("Magda\tB-ENT\nleft\tO\n", encoding="utf-8")
    result = run(command, source, "--model", folder)
    assert (result.status, result.out) == (1, "")
    assert message in result.error_line


def test_a_missing_model_is_reported(run, notes, tmp_path):
    result = run("find", notes, "--model", tmp_path / "none")
    assert result.status == 1
    assert result.error_line == f"there is no model folder {tmp_path / 'none'}"


def test_a_mistyped_file_or_model_is_answered_with_a_similar_name(run, notes, model):
    wrong = notes.with_name("note.txt")
    result = run("find", wrong, "--model", model)
    assert result.error_line == f"no such file: {wrong}; did you mean notes.txt?"
    wrong = model.with_name("leters")
    result = run("find", notes, "--model", wrong)
    assert result.error_line == f"there is no model folder {wrong}; did you mean letters?"
    result = run("find", notes, "--model", "fast-englsh")
    assert result.error_line == "there is no model folder fast-englsh; did you mean fast-english?"


def test_a_missing_device_is_reported(run, notes, model, monkeypatch, minilm):
    def to_device(*_, device, **__):
        minilm.model.to(device)

    monkeypatch.setattr("thresher.entities.loading.load_encoder", to_device)
    result = run("find", notes, "--model", model, "--device", "gpu")
    assert result.status == 1
    assert result.error_line.startswith("cannot use the device 'gpu': ")


def no_room(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_old_file_unchanged(run, notes, model, tmp_path, monkeypatch):
    old = tmp_path / "found.jsonl"
    old.write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.fsync", no_room)
    result = run("find", notes, "--model", model, "-o", old)
    assert result.status == 1
    assert result.error_line == f"cannot write {old}: No space left on device"
    assert old.read_text(encoding="utf-8") == "old"
    assert names_in(tmp_path) == ["found.jsonl", "notes.txt"]


def test_an_error_while_writing_leaves_the_old_file_unchanged(tmp_path):
    old = tmp_path / "found.jsonl"
    old.write_text("old", encoding="utf-8")

    def fail_half_way():
        with open_output(old) as write:
            write("new")
            assert old.read_text(encoding="utf-8") == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert old.read_text(encoding="utf-8") == "old"
    assert names_in(tmp_path) == ["found.jsonl"]


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "file"
    target.write_text("old", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to(target)
    with open_output(link) as write:
        write("new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_a_device_is_written_to_and_never_replaced(run, notes, model):
    null = Path(os.devnull)
    before = null.stat()
    assert run("find", notes, "--model", model, "-o", null).status == 0
    assert null.stat().st_ino == before.st_ino
    assert null.is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_device_is_reported(run, notes, model):
    result = run("find", notes, "--model", model, "-o", "/dev/full")
    assert result.status == 1
    assert result.error_line == "cannot write /dev/full: No space left on device"


@pytest.mark.parametrize("place", ["", "none/found.jsonl"])
def test_an_output_path_that_cannot_be_written_is_reported(run, notes, model, tmp_path, place):
    result = run("find", notes, "--model", model, "-o", tmp_path / place)
    assert result.status == 1
    assert result.error_line.startswith(f"cannot write {tmp_path / place}: ")


def test_input_is_never_overwritten(run, notes, tmp_path):
    result = run("find", tmp_path, "-o", tmp_path / "." / "notes.txt")
    assert result.status == 1
    assert f"{notes} is one of the sources" in result.error_line
    assert notes.read_text(encoding="utf-8") == "Magda left Oslo."


def test_an_unexpected_error_is_one_line(run, notes, model, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("of all things\non two lines")

    monkeypatch.setattr("thresher.entities.finder.EntityFinder.score_texts", fail)
    result = run("find", notes, "--model", model)
    assert result.status == 1
    assert "unexpected ZeroDivisionError: of all things on two lines" in result.error_line
    monkeypatch.setenv("THRESHER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("find", notes, "--model", model)


COMMANDS_WITH_OUTPUT = {
    "find": ["find", "SOURCE"],
    "fit": ["fit", "SOURCE"],
    "distill": ["distill", "english", "SOURCE"],
    "lm train": ["lm", "train", "SOURCE"],
    "lm report": ["lm", "report", "SOURCE"],
    "rationale fit": ["rationale", "fit", "SOURCE"],
    "rationale find": ["rationale", "find", "SOURCE", "--from", "lines", "--model", "SOURCE"],
}


@pytest.mark.parametrize("command", COMMANDS_WITH_OUTPUT.values(), ids=COMMANDS_WITH_OUTPUT)
def test_a_full_disk_is_reported_before_anything_is_read(
    run, notes, tmp_path, monkeypatch, command
):
    def fail(*_, **__):
        pytest.fail("a file was read or a model was loaded")

    monkeypatch.setattr("os.fsync", no_room)
    monkeypatch.setattr("thresher.text.sources._open", fail)
    monkeypatch.setattr("thresher.cli.lm.report.load_language_model", fail)
    command = [notes if word == "SOURCE" else word for word in command]
    result = run(*command, "-o", tmp_path / "out")
    assert result.status == 1
    assert result.error_line.startswith(f"cannot write {tmp_path / 'out'}")
    assert result.error_line.endswith(": No space left on device")
    assert names_in(tmp_path) == ["notes.txt"]
