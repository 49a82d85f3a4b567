"""A folder with every file that the documents use, and a function that runs their commands."""

import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

import pytest
from starlette.testclient import TestClient

from thresher import EntityFinder
from thresher.cli import main
from thresher.encoders.loading import DEFAULT_ENCODER, load_encoder
from thresher.encoders.training import SIZES, Size
from thresher.lm.shape import Shape
from thresher.lm.training.settings import LanguageModelSettings
from thresher.text import to_label_studio
from thresher.web.app import create_app
from thresher.web.models import ServedModels

ROOT = Path(__file__).parents[2]

# Options added to slow commands, so that they take seconds.
QUICK = {
    ("fit",): ["--epochs", "1", "--contrast", "0"],
    ("distill",): ["--epochs", "1"],
    ("serve",): ["--port", "0"],
    ("lm", "train"): shlex.split(
        "--steps 2 --batch 2 --evaluate-every 1 --width 16 --layers 1 --heads 1 --context 16"
    ),
    ("rationale", "fit"): ["--steps", "2"],
}


TINY = Size(
    Shape(width=16, layers=1, heads=1, context=16, causal=False),
    LanguageModelSettings(steps=2, batch=2, evaluate_every=1, roles=False),
)


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def sandbox(tmp_path, monkeypatch, load_once) -> Path:
    """A working folder with the files that the documents name, and quick training."""
    story = (ROOT / "examples" / "harbour.txt").read_text(encoding="utf-8")
    notes = (ROOT / "examples" / "lab-notes.txt").read_text(encoding="utf-8")
    load_or_default = _load_folders_or_default(load_encoder, default=load_once)
    for module in ("thresher.entities.loading", "thresher.encoders.loading"):
        monkeypatch.setattr(f"{module}.load_encoder", load_or_default)
    monkeypatch.setattr("thresher.entities.training.fit._MIN_STEPS", 2)
    monkeypatch.setattr("thresher.entities.training.student._MIN_STEPS", 2)
    monkeypatch.setattr(type(load_once()), "token_vectors", lambda self: self._embeddings)
    monkeypatch.setattr("thresher.entities.training.fit.FEW_WORDS", 0)
    monkeypatch.setattr("thresher.encoders.training.MIN_WORDS", 0)
    monkeypatch.setattr("thresher.encoders.training.SIZES", dict.fromkeys(SIZES, TINY))
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    shutil.copy("examples/gold.conll", "gold.conll")
    Path("corpus").mkdir()
    for name in ("notes.txt", "corpus/a.txt"):
        Path(name).write_text(story, encoding="utf-8")
    for name in ("corpus/b.txt", "corpus.txt", "tinyshakespeare.txt"):
        Path(name).write_text(ascii_uppercase + story + notes[:6000], encoding="utf-8")
    kinds = """person = ["Marie Curie", "Obama"]\nplace = ["Paris", "Oslo", "Boston"]\n"""
    for name in ("kinds.toml", "drugs-and-diseases.toml"):
        Path(name).write_text(kinds, encoding="utf-8")
    for name in ("hausa.txt", "more-hausa.txt", "amharic.txt", "people.txt"):
        Path(name).write_text(story, encoding="utf-8")
    Path("notes.jsonl").write_text('{"text": "Oslo."}\n{oops\n', encoding="utf-8")
    reviews = [{"text": f"It was {word} {i}.", "label": word} for i in range(40) for word in "ab"]
    Path("reviews.jsonl").write_text("\n".join(map(json.dumps, reviews)), encoding="utf-8")
    spans = EntityFinder.default().find(story)
    labelled = "".join(to_label_studio([(story, spans, None)]))
    Path("exported.json").write_text(labelled, encoding="utf-8")
    return tmp_path


def _load_folders_or_default(load: Callable, *, default: Callable) -> Callable:
    """Return a `load_encoder` that loads any other name than folders and multilingual encoders as
    the default.
    """

    def load_encoder(name: str = DEFAULT_ENCODER, *, near: Path | None = None, **options):
        folders = [Path(name)] if near is None else [Path(name), near / Path(name).name]
        if "multilingual" in name or any(folder.is_dir() for folder in folders):
            return load(name, near=near, **options)
        return default(name, **options)

    return load_encoder


@pytest.fixture
def run(capsys, monkeypatch) -> Callable[[str], Outcome]:
    """Return a function that runs a line like a shell, as far as the documents need it."""

    def run(line: str) -> Outcome:
        pieces = line.split(" | ")
        stdin = _echoed(pieces.pop(0)) if pieces[0].startswith("echo ") and len(pieces) > 1 else ""
        command, _, file = pieces.pop(0).partition(" > ")
        for name, value in re.findall(r"^([A-Z_]+)=(\S+) ", command):
            monkeypatch.setenv(name, value)
        outcome = _outcome(re.sub(r"^[A-Z_]+=\S+ ", "", command), stdin, capsys, monkeypatch)
        if file:
            Path(file).write_text(outcome.out, encoding="utf-8")
            return Outcome(outcome.status, "", outcome.err)
        for consumer in pieces:
            lines = int(re.fullmatch(r"head -(\d+)", consumer)[1])
            outcome = Outcome(
                outcome.status, "\n".join(outcome.out.split("\n")[:lines]), outcome.err
            )
        return outcome

    return run


def _outcome(command: str, stdin: str, capsys, monkeypatch) -> Outcome:
    if command.startswith("echo "):
        return Outcome(0, _echoed(command), "")
    program, *arguments = shlex.split(command)
    if program == "curl":
        return _post(*arguments)
    if program == "python":
        return _script(arguments, capsys, monkeypatch)
    assert program == "thresher", f"unknown program {program}"
    arguments = [name for each in arguments for name in _expanded(each)]
    if arguments[:2] == ["lm", "report"]:
        _other_models(arguments[2:])
    extra = QUICK.get(tuple(arguments[:2])) or QUICK.get(tuple(arguments[:1])) or []
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    capsys.readouterr()
    status = main([*arguments, *extra])
    return Outcome(status, *capsys.readouterr())


def _expanded(word: str) -> list[str]:
    """Return the files that match a pattern; any other word unchanged."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def _echoed(command: str) -> str:
    return shlex.split(command)[1] + "\n"


def _post(address: str, option: str, body: str) -> Outcome:
    assert option == "--json"
    client = TestClient(create_app(ServedModels({"english": EntityFinder.default()})))
    response = client.post(address.removeprefix("http://127.0.0.1:8000"), json=json.loads(body))
    return Outcome(0 if response.is_success else 1, response.text, "")


def _script(arguments: list[str], capsys, monkeypatch) -> Outcome:
    path, *rest = arguments
    monkeypatch.setattr(sys, "argv", [path, *rest])
    capsys.readouterr()
    code = compile(Path(path).read_text(encoding="utf-8"), path, "exec")
    exec(code, {"__name__": "__main__", "__file__": os.fspath(Path(path).resolve())})
    return Outcome(0, *capsys.readouterr())


def _other_models(arguments: list[str]) -> None:
    """Copy a trained model to the other names in a report; the documents train only one."""
    names = arguments[: arguments.index("-o")]
    trained = next(Path(name) for name in names if Path(name).exists())
    for name in names:
        if not Path(name).exists():
            shutil.copytree(trained, name)
