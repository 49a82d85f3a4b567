"""Exported finders run by ONNX Runtime, against the finders themselves."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from thresher import EntityFinder
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.entity_sample import empty_sample
from thresher.entities.kinds.gates import KindGates
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.model import FinderModel
from thresher.entities.onnx import OnnxFinder, export_onnx
from thresher.entities.onnx.metadata import CONFIG, from_metadata
from thresher.entities.selectors import CalibratedSelector
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.gates.selector import seeded_selector
from thresher.lm.shape import Shape
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings

WIDTH = 16
TEXTS = [
    "Magda wrote a letter to Rosa. It was sent from Oslo by the child of Ingrid Berg.",
    "Magda",
    "the old harbour " * 60 + "of Oslo was quiet.",  # longer than a window
    "",
    "\u200b magda . \u200b",  # words without tokens
]
SENTENCES = [["Magda", "went", "\u200b"], ["Oslo"], ["a"] * 70, ["the", "letter", "."]]


@pytest.fixture(scope="module")
def language_model_finder():
    """A finder of random weights with everything that a model can have, on a transformer."""
    trained = fit_language_model(
        TEXTS[0] * 20,
        tokenizer="word-pairs",
        shape=Shape(width=WIDTH, layers=2, heads=2, context=24, causal=False),
        settings=LanguageModelSettings(steps=2, batch=2, warm_up=1, evaluate_every=2, roles=False),
    )
    encoder = LanguageModelEncoder(trained, name="my-lm", layer=1)
    noise = np.random.default_rng(0)
    classifier = KindClassifier(
        ("person", "place"),
        noise.normal(size=(3, WIDTH)).astype(np.float32),
        noise.normal(size=3).astype(np.float32),
        noise.normal(size=WIDTH).astype(np.float32),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        link_gate = LinkGate(WIDTH, hidden=4)
    gates = KindGates(
        tuple(seeded_selector(seed, WIDTH, hidden=4, form="thresholded") for seed in (1, 2))
    )
    head = CalibratedSelector(
        seeded_selector(0, WIDTH, hidden=8, form="stretched"),
        SignalWeights(capital=2.0, lower=-1.0),
        0.3,
        SpanModel(start=0.1, continuation=0.0, link=0.5, scale=1.0, bias=0.0),
    )
    model = FinderModel(
        "my-lm",
        1,
        (head,),
        frozenset(["letter"]),
        frozenset(["the"]),
        dates=frozenset(["monday"]),
        kinds=KindModel(empty_sample(WIDTH), classifier, gates, listed={("magda",): 0}),
        link_gate=link_gate,
    )
    return EntityFinder(encoder, model)


@pytest.fixture(scope="module")
def built_in():
    return EntityFinder.load("english", device="cpu", exact=True)


@pytest.fixture(scope="module")
def static(small):
    return EntityFinder.load(small, device="cpu", exact=True)


@pytest.fixture(scope="module", params=["static", "language_model_finder", "built_in"])
def pair(request, tmp_path_factory):
    """A finder, and the same one exported and loaded again."""
    finder = request.getfixturevalue(request.param)
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    export_onnx(finder, path)
    return finder, OnnxFinder.load(path, threads=1)


def test_the_graph_gives_the_same_vectors_gates_and_links(pair):
    finder, exported = pair
    expected, got = finder.word_scorer.encode(SENTENCES), exported.encode(SENTENCES)
    for name in ("gate_scores", "vectors", "kind_scores", "links"):
        ours, theirs = getattr(expected, name), getattr(got, name)
        if ours is None:
            assert theirs is None
        elif name == "links":  # those of the last words of sentences mean nothing
            ends = np.cumsum(list(map(len, SENTENCES))) - 1
            np.testing.assert_allclose(np.delete(theirs, ends), np.delete(ours, ends), atol=1e-4)
        else:
            np.testing.assert_allclose(theirs, ours, atol=1e-4, rtol=1e-4)


def test_the_exported_finder_finds_the_same_spans(pair):
    finder, exported = pair
    assert exported.threshold == pytest.approx(finder.threshold)
    assert exported.kinds == finder.kinds
    expected, got = finder.find(TEXTS, threshold=0.05), exported.find(TEXTS, threshold=0.05)
    assert sum(map(len, expected)) >= 4
    for ours, theirs in zip(expected, got, strict=True):
        assert [(s.start, s.end, s.kind) for s in theirs] == [
            (s.start, s.end, s.kind) for s in ours
        ]
        assert [s.score for s in theirs] == pytest.approx([s.score for s in ours], abs=1e-4)


def test_a_file_is_found_with_in_a_process_without_torch(static, tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(static, path)
    code = f"""
import sys
sys.modules["torch"] = None  # importing it raises ImportError
from thresher.entities.onnx import OnnxFinder
print([span.text for span in OnnxFinder.load({str(path)!r}).find("the letter from Oslo .")])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "['Oslo']\n", run.stderr


def test_what_cannot_be_exported_is_refused(static, language_model_finder, tmp_path):
    subwords = replace(language_model_finder.model, features=Features(unit="subword"))
    with pytest.raises(InputError, match="a gate for each subword"):
        export_onnx(EntityFinder(language_model_finder.encoder, subwords), tmp_path / "m.onnx")
    with pytest.raises(InputError, match="cannot write"):
        export_onnx(static, tmp_path / "file.onnx" / "m.onnx" / Path("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_files_of_unknown_origin_are_refused(static, tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(static, path)
    proto = onnx.load(path)
    metadata = {each.key: each.value for each in proto.metadata_props}
    config = json.loads(metadata[CONFIG])
    for key, value in {
        "threshold": 7,
        "not_names": "the",
        "signal_weights": {"capital": "NaN"},
        "windows": {"start": ["a"]},
        "kinds": {"names": ["x"], "weight": [[1]], "bias": [1, 2, 3], "mean": [1]},
        "format": 2,
    }.items():
        with pytest.raises(InputError, match="does not describe a finder"):
            from_metadata(metadata | {CONFIG: json.dumps(config | {key: value})}, "m.onnx")
    del proto.metadata_props[:]
    onnx.save(proto, path)
    with pytest.raises(InputError, match="was not written by thresher export"):
        OnnxFinder.load(path)
    path.write_bytes(b"not a graph")
    with pytest.raises(InputError, match=r"cannot load the ONNX file .*model\.onnx"):
        OnnxFinder.load(path)
    with pytest.raises(InputError, match="cannot read"):
        OnnxFinder.load(tmp_path / "absent.onnx")
