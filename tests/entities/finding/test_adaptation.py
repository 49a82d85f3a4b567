"""Adaptation to the text at hand, with gates that are known."""

from dataclasses import replace

import numpy as np
import pytest

from thresher.entities.finder import EntityFinder
from thresher.entities.finding.adaptation import (
    MAX_WORDS,
    Adaptation,
    estimate_adaptation,
    first_words,
    shrunk_weights,
)
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SharedGates
from thresher.entities.training.settings import EntitySettings

OWN = SignalWeights(capital=2.0, lower=-1.0, repeated=1.5)


@pytest.fixture(scope="module")
def finder(new_tiny):
    text = [["the", "mayor", "of", f"Town{i}", "met", f"Mister{i}", "."] for i in range(60)]
    return EntityFinder.fit_words(
        text, encoder=new_tiny(), settings=EntitySettings(epochs=1, contrast=0.0)
    )


def test_without_pseudo_labels_the_weights_stay():
    assert shrunk_weights(SignalWeights(9.0, 9.0, 9.0), OWN, part=0.0) == OWN


def test_with_many_pseudo_labels_the_estimate_replaces_the_weights():
    estimated = SignalWeights(0.5, -0.3, 1.5)
    assert shrunk_weights(estimated, OWN, part=1.0) == estimated


@pytest.mark.parametrize(("repeated", "factor"), [(1.5, 1), (3.0, 1), (0.75, 2), (0, 3), (-1, 3)])
def test_case_counts_for_more_where_repetition_says_less(repeated, factor):
    weights = shrunk_weights(SignalWeights(1.0, -0.5, repeated), OWN, part=1.0)
    assert weights == SignalWeights(factor * 1.0, factor * -0.5, repeated)


@pytest.mark.parametrize(("unfamiliar", "factor"), [(0.0, 1), (0.5, 4 / 3), (1.0, 5 / 3)])
def test_case_counts_for_more_in_an_unfamiliar_language(unfamiliar, factor):
    weights = shrunk_weights(SignalWeights(1.0, -0.5, 1.5), OWN, part=1.0, unfamiliar=unfamiliar)
    assert weights == SignalWeights(*map(pytest.approx, (factor * 1.0, factor * -0.5, 1.5)))
    assert shrunk_weights(weights, OWN, part=0.0, unfamiliar=unfamiliar) == OWN


def test_the_weight_of_words_without_case_is_not_estimated():
    own = replace(OWN, caseless=-1.2)
    assert shrunk_weights(SignalWeights(0.5, -0.3, 1.5), own, part=0.7).caseless == -1.2


def nouns_with_capitals(entity_words, other_words, *, capitals):
    """Return sentences and gates: entities are capitalised, and so are some of the other words."""
    sentences, gates = [], []
    for i in range(400):
        noun = "Haus" if i % 100 < capitals * 100 else "haus"
        sentences.append(["heute", f"sah{i % 7}", noun, f"Anna{i}", "gern"])
        gates += [other_words, other_words, other_words, entity_words, other_words]
    return sentences, np.array(gates, dtype=np.float32)


def test_capitals_of_ordinary_words_lower_the_weight_of_capitals(finder):
    weights = []
    for capitals in (0.0, 0.5, 1.0):
        sentences, gates = nouns_with_capitals(0.95, 0.01, capitals=capitals)
        adaptation = estimate_adaptation(finder.model, gates, [sentences])
        weights.append(adaptation.signal_weights.capital)
    assert weights[0] > weights[1] > weights[2]


def test_words_of_an_unknown_language_become_ordinary(finder):
    model = replace(finder.model, ordinary=frozenset({"the"}))
    sentences = [["wir", "sahen", "heute", "wir", "sahen", f"anna{i}"] for i in range(400)]
    gates = np.full(2400, 0.01, dtype=np.float32)
    adaptation = estimate_adaptation(model, gates, [sentences])
    assert {"wir", "sahen", "heute"} <= adaptation.ordinary
    adapted = model.with_adaptation(adaptation)
    assert adapted.ordinary == model.ordinary | adaptation.ordinary
    assert adapted.threshold == adaptation.threshold


def test_a_short_text_changes_nothing(finder):
    assert finder.adapted_to(["A short text."]) is finder


def test_adapting_gives_the_same_finder_however_texts_are_given(finder):
    texts = [f"heute sah Anna{i} das Haus von Peter{i} gern." for i in range(300)]
    first, second = finder.adapted_to(texts), finder.adapted_to(iter(texts))
    assert first.model.signal_weights == second.model.signal_weights
    assert first.threshold == second.threshold


def test_at_most_the_first_words_are_used():
    texts = [[["a"] * 100] * 100] * 10
    used = list(first_words(iter(texts)))
    assert sum(len(words) for text in used for words in text) == MAX_WORDS
    assert list(first_words([[["a", "b"]], [["c"]]])) == [[["a", "b"]], [["c"]]]


def test_an_adapted_model_is_saved_and_loaded(finder, tmp_path):
    shared = {"anna": SharedGates(0.5, 2.25)}
    adaptation = Adaptation(
        SignalWeights(3.0, -2.0, 0.5), 0.25, frozenset({"haus"}), 5000, shared_gates=shared
    )
    model = finder.with_adaptation(adaptation).model
    model.write(tmp_path / "model")
    loaded = type(model).read(tmp_path / "model")
    assert (loaded.signal_weights, loaded.threshold) == (model.signal_weights, 0.25)
    assert "haus" in loaded.ordinary
    assert loaded.shared_gates == loaded.signal_extractor.shared_gates == shared


def test_background_text_shows_which_words_have_a_capital(finder):
    model = replace(finder.model, ordinary=frozenset({"heute"}))
    known = EntityFinder(finder.encoder, model)
    texts = [f"heute sah anna{i} das haus gern." for i in range(400)]
    background = ["Dann hat sie Anna7 und Anna9 in der Stadt bei dem haus gesehen."] * 3
    shared = known.adapted_to(texts, background=background).model.shared_gates
    assert (shared["anna7"].capital, shared["anna7"].lower) == (0.75, 0.0)
    assert (shared["haus"].capital, shared["haus"].lower) == (0.0, 0.75)
    assert "anna7" not in known.adapted_to(texts).model.shared_gates


def test_gates_are_shared_in_an_unknown_language(finder):
    model = replace(finder.model, ordinary=frozenset({"heute"}))
    sentences = [["heute", "sahen", "wir", "anna", "bei", f"haus{i}"] for i in range(400)]
    gates = np.full(2400, 0.01, dtype=np.float32)
    gates[3::12] = 0.9  # every second anna
    adapted = model.with_adaptation(estimate_adaptation(model, gates, [sentences]))
    scores = SignalWeights().combine(gates, adapted.signal_extractor.extract(sentences))
    assert 0.1 < scores[3::6].min() < scores[3::6].max() < 0.5
