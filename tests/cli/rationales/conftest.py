"""Reviews whose label depends on one word, a tiny encoder of their words, and a model."""

import json
import random

import pytest

from thresher.cli import main

_GOOD, _BAD = "lovely superb tasty".split(), "awful rude stale".split()
_FILLERS = "the soup and a waiter came with bread to our table near window on monday".split()


@pytest.fixture(autouse=True)
def _encoder_loaded_once():
    """These tests load a tiny encoder of their own."""


@pytest.fixture(scope="session")
def encoder(new_bert):
    """A BERT of one layer with clearly different embeddings."""
    words = [*_GOOD, *_BAD, *_FILLERS, "."]
    return new_bert(words, width=32, layers=1, mask=True, distinct=True)


def _records(count, *, seed=0):
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        label = draw.choice(["good", "bad"])
        words = draw.choices(_FILLERS, k=draw.randint(4, 6))
        cue = draw.choice(_GOOD if label == "good" else _BAD)
        words.insert(draw.randint(0, len(words)), cue)
        text = " ".join(words) + "."
        at = text.index(cue)
        found.append({"text": text, "label": label, "rationale": [[at, at + len(cue)]]})
    return found


def _write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def records():
    """A function that returns `count` reviews whose label depends on one word."""
    return _records


@pytest.fixture
def write_jsonl():
    """A function that writes rows to a path and returns the path."""
    return _write_jsonl


@pytest.fixture(scope="session")
def reviews(tmp_path_factory):
    return _write_jsonl(tmp_path_factory.mktemp("reviews") / "reviews.jsonl", _records(120))


@pytest.fixture(scope="session")
def held_out(tmp_path_factory):
    return _write_jsonl(tmp_path_factory.mktemp("reviews") / "test.jsonl", _records(40, seed=1))


@pytest.fixture(scope="session")
def model(reviews, encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    arguments = ["rationale", "fit", reviews, "-o", folder, "--encoder", encoder]
    arguments += ["--quiet", "--steps", "120", "--share", "0.15"]
    assert main([str(each) for each in arguments]) == 0
    return folder
