"""The models that come with the package, by their names."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from thresher import EntityFinder
from thresher.encoders.bert import with_prefix
from thresher.encoders.int8_bert import LINEAR_LAYERS, Int8Bert, weight_divisors
from thresher.encoders.int8_linear import MAX_WEIGHTS, int8_products_exact, int8_supported
from thresher.entities.built_in import (
    ENGLISH,
    FAST_ENGLISH,
    MULTILINGUAL,
    NAMES,
    SMALL_ENGLISH,
    find_model_folder,
)
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.model import FinderModel
from thresher.errors import InputError

FOUND = """
import sys
from thresher import EntityFinder

found = EntityFinder.load("fast-english").find("Later Marie Curie moved to Paris, it was said.")
print([span.text for span in found], "transformers" in sys.modules)
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_model_has_a_config_and_a_licence(name):
    card = (find_model_folder(name) / "README.md").read_text(encoding="utf-8")
    assert "\nlicense: cc-by-sa-4.0\n" in card
    assert (find_model_folder(name) / "config.json").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_model_knows_the_built_in_kinds(name):
    kinds = FinderModel.read(find_model_folder(name)).kinds
    terms = ("chemical", "disease")  # which only the English models find
    known = KindExamples.english().kinds
    assert known[-2:] == terms
    assert kinds.kinds == (known[:-2] if name == MULTILINGUAL else known)
    assert len(kinds.sample) > 1000


def test_the_multilingual_model_gives_kinds_in_other_languages():
    finder = EntityFinder.load(MULTILINGUAL, device="cpu")
    text = "Mette Frederiksen mødte Angela Merkel i København."
    kinds = {span.text: span.kind for span in finder.find(text)}
    assert kinds == {
        "Mette Frederiksen": "person",
        "Angela Merkel": "person",
        "København": "place",
    }
    untyped = finder.with_kinds(None).find(text)
    assert [(span.text, span.kind) for span in untyped] == [(name, None) for name in kinds]


def test_a_folder_with_the_name_of_a_built_in_model_takes_precedence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_model_folder(FAST_ENGLISH).is_absolute()
    Path(FAST_ENGLISH).mkdir()
    assert find_model_folder(FAST_ENGLISH) == Path(FAST_ENGLISH)
    with pytest.raises(InputError, match=r"fast-english is not a model"):
        EntityFinder.load(FAST_ENGLISH)


def test_fast_english_finds_names_and_does_not_import_transformers():
    ran = subprocess.run(
        [sys.executable, "-c", FOUND], capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout == "['Marie Curie', 'Paris'] False\n"


def test_input_ranges_for_int8_are_saved_with_the_model(tmp_path):
    model = FinderModel.read(find_model_folder(ENGLISH))
    model.write(tmp_path / "again")
    again = FinderModel.read(tmp_path / "again").ranges
    assert len(again) == 4 * model.layer + 1  # linear layers, and the gates
    assert all(torch.equal(again[name], value) for name, value in model.ranges.items())


@pytest.mark.skipif(not int8_supported(), reason="this CPU does not support int8")
def test_on_a_cpu_the_built_in_model_runs_in_int8_unless_exact():
    sentences = ["Later Marie Curie moved to Paris , it was said .".split()]
    fast = EntityFinder.default(device="cpu")
    exact = EntityFinder.default(device="cpu", exact=True)
    assert fast.find_words(sentences)[0][0].start == exact.find_words(sentences)[0][0].start == 1
    difference = np.abs(fast.gate_scores(sentences[:1]) - exact.gate_scores(sentences[:1]))
    assert 0 < difference.max() < 0.05


@pytest.mark.parametrize("exact", [False, True])
def test_small_english_has_two_layers_and_scores_like_the_built_in_model(exact):
    sentences = ["Later Marie Curie moved to Paris , it was said in the report .".split()]
    small = EntityFinder.load(SMALL_ENGLISH, device="cpu", exact=exact)
    built_in = EntityFinder.default(device="cpu", exact=exact)
    assert (small.encoder.layer, built_in.encoder.layer) == (2, 3)
    assert small.find_words(sentences)[0][0].start == 1
    difference = np.abs(small.gate_scores(sentences) - built_in.gate_scores(sentences))
    assert 0 < difference.max() < 0.25


def test_layers_are_saved_with_the_model(tmp_path):
    model = FinderModel.read(find_model_folder(SMALL_ENGLISH))
    model.write(tmp_path / "again")
    again = FinderModel.read(tmp_path / "again").layers
    assert len(again) == 4 + 16 * model.layer  # embeddings, and the parameters of each layer
    assert all(torch.equal(again[name], value) for name, value in model.layers.items())


def test_layers_of_another_width_are_an_error(tmp_path):
    model = FinderModel.read(find_model_folder(SMALL_ENGLISH))
    narrow = {name: value[..., :100] for name, value in model.layers.items()}
    replace(model, layers=narrow).write(tmp_path / "narrow")
    with pytest.raises(InputError, match="has the shape"):
        EntityFinder.load(tmp_path / "narrow", device="cpu")


def test_layers_with_too_few_positions_are_an_error(tmp_path):
    model = FinderModel.read(find_model_folder(SMALL_ENGLISH))
    name = "embeddings.position_embeddings.weight"
    few = {**model.layers, name: model.layers[name][:20]}
    replace(model, layers=few).write(tmp_path / "few")
    with pytest.raises(InputError, match="only 20 positions"):
        EntityFinder.load(tmp_path / "few", device="cpu")


def test_auto_is_not_one_model():
    with pytest.raises(InputError, match=r"one model is needed; choose from english, "):
        EntityFinder.load("auto")


@pytest.mark.parametrize("name", [ENGLISH, SMALL_ENGLISH])
def test_weights_of_the_english_models_are_integers_times_a_scale(name):
    finder = EntityFinder.load(name, device="cpu", exact=True)
    for number, layer in enumerate(finder.encoder.model.layers):
        ranges = with_prefix(finder.model.ranges, f"layers.{number}.")
        for linear in LINEAR_LAYERS:
            weight = getattr(layer, linear).weight * weight_divisors(ranges, linear)
            integers = weight / weight.abs().amax(1, keepdim=True) * min(MAX_WEIGHTS)
            assert (integers - integers.round()).abs().max() < 0.1


@pytest.mark.skipif(
    not all(map(int8_products_exact, MAX_WEIGHTS)), reason="this CPU has only one kind of weights"
)
@pytest.mark.parametrize("name", [ENGLISH, SMALL_ENGLISH])
def test_hidden_states_in_int8_are_the_same_on_older_and_newer_cpus(name):
    finder = EntityFinder.load(name, device="cpu", exact=True)
    ids = torch.randint(1000, 20_000, (3, 64), generator=torch.Generator().manual_seed(0))
    position, text = torch.arange(64).expand(3, 64), torch.ones(3, 64, dtype=torch.int64)
    newer, older = (
        Int8Bert(
            finder.encoder.model, finder.model.ranges, layers=finder.encoder.layer, max_weight=each
        )
        for each in MAX_WEIGHTS
    )
    with torch.inference_mode():
        difference = newer(ids, position, text) - older(ids, position, text)
    assert difference.abs().max() < 1e-4


@pytest.mark.parametrize("name", [ENGLISH, SMALL_ENGLISH, FAST_ENGLISH])
def test_chemicals_and_diseases_are_found_in_lower_case(name):
    """The gates have learned both kinds from example names; these two words are none of them."""
    text = (
        "The patients received lamotrigine. Two of them developed encephalopathy during treatment "
        "with lamotrigine, and one had encephalopathy again after the dose of clonidine was raised."
    )
    found = {span.text: span.kind for span in EntityFinder.load(name, device="cpu").find(text)}
    assert found["lamotrigine"] == found["clonidine"] == "chemical"
    assert found["encephalopathy"] == "disease"
