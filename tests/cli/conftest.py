"""A small model trained on generated text, and the command line run in this process."""

import io
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from thresher import EntityFinder
from thresher.cli import main

_PEOPLE = "Ingrid Tomasz Magda Elias Rosa Amara Helen Moussa Nadia Viktor Leila Hugo".split()
_PLACES = "Oslo Larvik Hull Gdynia Boston Dakar Lisbon Porto Galway Toronto Bergen Kyoto".split()
_FORMS = [
    "{a} went to {p} with {b} in the morning .",
    "In {p} the old boats are counted by {a} every winter .",
    "The letter that {a} wrote was sent from {p} to {q} .",
    "Nobody in the village knew why {a} had left .",
    "When the rain stopped , {b} took the train to {q} .",
    "The roof leaked and the paint came off the door .",
    "They say that the figs were ripe and that the dog slept .",
    "A carpenter from {p} sold the planks to {b} for a small sum .",
]


def letters(count: int, *, seed: int = 0) -> str:
    """Return raw text with names: `count` sentences, six per paragraph."""
    draw = random.Random(seed)
    sentences = [
        draw.choice(_FORMS).format(
            a=draw.choice(_PEOPLE),
            b=draw.choice(_PEOPLE),
            p=draw.choice(_PLACES),
            q=draw.choice(_PLACES),
        )
        for _ in range(count)
    ]
    paragraphs = [" ".join(sentences[i : i + 6]) for i in range(0, count, 6)]
    return "\n\n".join(paragraphs).replace(" .", ".").replace(" ,", ",") + "\n"


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def error_line(self) -> str:
        """The one line on standard error."""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("thresher: "), self.err
        return self.err.removeprefix("thresher: ").rstrip("\n")


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _encoder_loaded_once(load_once, monkeypatch):
    """Load the encoder once, because it takes a second; child processes load their own."""
    for place in ("thresher.entities.loading", "thresher.encoders.loading"):
        monkeypatch.setattr(f"{place}.load_encoder", load_once)


@pytest.fixture
def run(capsys, monkeypatch) -> Run:
    """Return a function that runs the command line; `stdin` is its standard input."""

    def run(*arguments: object, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        status = main([str(each) for each in arguments])
        return Result(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "letters.txt"
    path.write_text(letters(300), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def short_corpus(tmp_path_factory) -> Path:
    """A corpus just large enough to train on."""
    path = tmp_path_factory.mktemp("corpus") / "short.txt"
    path.write_text(letters(40), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _no_warning_about_few_words(monkeypatch):
    """Most tests train on short texts; the warning has its own test."""
    monkeypatch.setattr("thresher.entities.training.fit.FEW_WORDS", 0)


@pytest.fixture(scope="session")
def model(corpus, tmp_path_factory, load_once) -> Path:
    """The folder of a model trained on 300 sentences."""
    folder = tmp_path_factory.mktemp("models") / "letters"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.encoders.loading.load_encoder", load_once)
        status = main(
            ["fit", str(corpus), "-o", str(folder), "--quiet", "--epochs", "60", "--contrast", "0"]
        )
    assert status == 0
    return folder


@pytest.fixture
def finder(model) -> EntityFinder:
    return EntityFinder.load(model)
