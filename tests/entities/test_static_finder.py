"""Models without a transformer are computed without torch, and find the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import load, save

from thresher import EntityFinder, InputError
from thresher.bulk.finder_choice import FinderChoice
from thresher.entities.built_in import ENGLISH, FAST_ENGLISH, find_model_folder
from thresher.entities.choices import KindsWord
from thresher.entities.model_config import LAYOUT, WEIGHTS
from thresher.entities.static_finder import StaticFinder

TEXTS = [
    "",
    "Marie Curie moved to Paris in 1891. She worked there with Pierre Curie.",
    "barack obama met angela merkel in berlin on tuesday",
    "The University of Texas at Austin bought 17 iPhones; see https://example.org/a_b.",
    "Ærøskøbing … 東京 ﷺ x" * 3,
    " ".join(["NATO"] * 700),
]


@pytest.fixture(scope="module")
def static() -> StaticFinder:
    finder = StaticFinder.load(find_model_folder(FAST_ENGLISH))
    assert finder is not None
    return finder


def test_spans_scores_and_kinds_equal_those_of_the_model_in_torch(static):
    in_torch = EntityFinder.load(FAST_ENGLISH, device="cpu", exact=True)
    assert (static.threshold, static.kinds) == (in_torch.threshold, in_torch.kinds)
    for ours, theirs in zip(static.find_all(TEXTS), in_torch.find_all(TEXTS), strict=True):
        assert [(s.start, s.end, s.kind) for s in ours] == [
            (s.start, s.end, s.kind) for s in theirs
        ]
        # Inputs and weights of the convolutions have about ten bits without torch.
        assert [s.score for s in ours] == pytest.approx([s.score for s in theirs], abs=4e-3)


def test_finding_does_not_import_torch():
    code = (
        "import sys; from thresher.cli import main; "
        f"status = main(['find', {TEXTS[1]!r}, '--model', 'fast-english', '--to', 'jsonl']); "
        "sys.exit(status or int('torch' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["spans"]
    assert [each["text"] for each in found] == ["Marie Curie", "Paris", "Pierre Curie"]


def test_what_needs_torch_is_loaded_with_torch(tmp_path):
    assert StaticFinder.load(find_model_folder(ENGLISH)) is None
    fast = Path(FAST_ENGLISH)
    assert isinstance(FinderChoice(fast).load(), StaticFinder)
    for choice in (FinderChoice(fast, selector=1), FinderChoice(fast, kinds=KindsWord.NONE)):
        assert isinstance(choice.load(), EntityFinder)


@pytest.mark.parametrize("damage", ["missing", "shape", "nan"])
def test_a_damaged_selector_is_refused(tmp_path, damage):
    config, files = LAYOUT.read(find_model_folder(FAST_ENGLISH))
    weights = {name: value.copy() for name, value in load(files[WEIGHTS]).items()}
    if damage == "missing":
        del weights["outer.bias"]
    elif damage == "shape":
        weights["inner.weight"] = weights["inner.weight"][:, 1:].copy()
    else:
        weights["inner.weight"][0, 0] = float("nan")
    config = {name: value for name, value in config.items() if name != "sha256"}
    LAYOUT.write(tmp_path / "model", config, files | {WEIGHTS: save(weights)}, card="")
    with pytest.raises(InputError, match=r"outer\.bias|inner\.weight"):
        StaticFinder.load(tmp_path / "model")
