"""Kinds of entities end to end."""

from dataclasses import replace

import numpy as np
import pytest

from thresher import EntityFinder, EntitySettings
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import KindGates
from thresher.entities.kinds.training import learn_kinds
from thresher.entities.word_scorer import WordScorer
from thresher.errors import InputError
from thresher.gates.choices import GateForm
from thresher.gates.selector import seeded_selector

TEXT = (
    "Marie Curie moved to Paris. The German chancellor met Barack Obama in London. "
    "Microsoft and Google sell software in Germany."
)
KINDS = {
    "person": ["Albert Einstein", "Isaac Newton", "Napoleon", "Angela Merkel"],
    "place": ["Berlin", "France", "Tokyo", "Chicago"],
    "company": [
        "Toyota",
        "IBM",
        "Siemens",
        "General Motors",
        "Amazon",
        "Apple",
        "Samsung",
        "Intel",
    ],
}


@pytest.fixture(scope="module")
def finder():
    return EntityFinder.default(device="cpu", exact=True)


def kinds_of(finder, text=TEXT):
    return {span.text: span.kind for span in finder.find(text)}


def test_the_built_in_model_knows_people_places_and_organisations(finder):
    found = kinds_of(finder)
    assert found["Marie Curie"] == found["Barack Obama"] == "person"
    assert found["Paris"] == found["London"] == found["Germany"] == "place"
    assert set(found.values()) <= {*finder.kinds, None}


def test_kinds_do_not_change_which_entities_are_found(finder):
    untyped = finder.with_kinds(None).find(TEXT)
    assert all(span.kind is None and span.kind_score is None for span in untyped)
    assert [(s.start, s.end, s.score) for s in finder.find(TEXT)] == [
        (s.start, s.end, s.score) for s in untyped
    ]


def test_a_few_names_define_new_kinds(finder):
    found = kinds_of(finder.with_kinds(KINDS))
    assert found["Marie Curie"] == "person"
    assert found["Paris"] == "place"
    assert found["Google"] == "company"


@pytest.mark.parametrize("names", [4, 8])
def test_four_names_of_each_kind_are_enough_for_obvious_names(finder, names):
    kinds = {
        kind: each[:names] for kind, each in KindExamples.english().names.items() if kind in KINDS
    }
    found = kinds_of(
        finder.with_kinds(kinds),
        "Hillary Clinton flew from Berlin to Lisbon, where Angela Merkel was waiting. "
        "Later they met Emmanuel Macron in Madrid.",
    )
    assert found["Hillary Clinton"] == found["Angela Merkel"] == "person"
    assert found["Emmanuel Macron"] == "person"
    assert found["Berlin"] == found["Lisbon"] == found["Madrid"] == "place"


def test_an_entity_that_fits_no_kind_has_none(finder):
    drugs = {"drug": ["aspirin", "ibuprofen", "morphine"], "person": KINDS["person"]}
    found = kinds_of(finder.with_kinds(drugs))
    assert found["Marie Curie"] == "person"
    assert found["Paris"] is None
    assert found["Germany"] is None


def test_three_names_do_not_claim_entities_of_other_kinds(finder):
    ships = {
        "person": ["Marie Curie", "Obama", "Jensen Huang"],
        "ship": ["Titanic", "Vasa", "Hood"],
    }
    found = kinds_of(
        finder.with_kinds(ships),
        "Apple opened a store in Munich. Toyota builds cars in Japan. The Titanic sank in 1912.",
    )
    assert found["Titanic"] == "ship"
    assert {found[name] for name in ("Apple", "Munich", "Toyota", "Japan")} == {None}


def test_examples_are_compared_with_the_sample_word_by_word(finder):
    encoder = finder.encoder
    contexts = np.eye(2, encoder.width, dtype=np.float32)
    examples = KindExamples({"person": ["Jean-Luc Godard"], "place": ["Berlin"]})

    def weight(*name):
        sample = EntitySample((name, ("Berlin",)), contexts)
        return learn_kinds(examples, sample, encoder).weight

    same, other = weight("Jean", "-", "Luc", "Godard"), weight("Jean", "-", "Paul", "Sartre")
    np.testing.assert_array_equal(weight("JEAN", "-", "LUC", "Godard"), same)
    assert np.abs(same - other).max() > 0.01


def test_kinds_are_saved_with_the_model(finder, tmp_path):
    own = finder.with_kinds(KINDS)
    own.save(tmp_path / "model")
    again = EntityFinder.load(tmp_path / "model", device="cpu", exact=True)
    assert again.kinds == ("person", "place", "company")
    assert kinds_of(again) == kinds_of(own)


def test_kinds_of_a_text_do_not_depend_on_other_texts(finder):
    texts = [TEXT, "London left the band London Grammar.", "Obama spoke."]
    together = list(finder.find_all(texts))
    for text, spans in zip(texts, together, strict=True):
        alone = finder.find(text)
        assert [(s.text, s.kind) for s in alone] == [(s.text, s.kind) for s in spans]
        np.testing.assert_allclose(
            [s.kind_score or 0 for s in alone], [s.kind_score or 0 for s in spans], atol=1e-4
        )


def test_the_fast_model_has_the_same_kinds(finder):
    fast = EntityFinder.load("fast-english", device="cpu")
    assert fast.kinds == finder.kinds == KindExamples.english().kinds
    assert kinds_of(fast)["Paris"] == "place"


def test_a_text_without_entities_has_no_kinds(finder):
    assert finder.find("") == []
    assert finder.find("it rained and nothing happened.") == []


def test_discovered_kinds_are_the_same_in_every_run(finder):
    names = [name for each in KindExamples.english().names.values() for name in each[:150]]
    texts = [f"We read about {name} yesterday." for name in names]
    first, second = (finder.discover_kinds(texts) for _ in range(2))
    assert first.examples() == second.examples()
    assert len(set(first.kinds)) == len(first.kinds) >= 3
    written = [name for each in first.examples().names.values() for name in each]
    assert any("-" in name for name in written)
    assert [name for name in written if not any(name in text for text in texts)] == []
    with pytest.raises(InputError, match="30 are needed"):
        finder.discover_kinds([TEXT])


def test_kind_gates_find_lower_case_names_of_a_kind(minilm, tmp_path):
    """The text has no capitals inside sentences, so that only the examples show what a drug is."""
    drugs = ["aspirin", "ibuprofen", "morphine", "warfarin", "heparin", "insulin", "codeine"]
    places = ["the garden", "the kitchen", "the hall"]
    sentences = [
        f"We gave {drug} to the man in {place} on day {day} .".split()
        for drug in drugs
        for place in places
        for day in range(8)
    ]
    settings = EntitySettings(contrast=0, epochs=2)
    fitted = EntityFinder.fit_words(
        sentences, encoder=minilm, settings=settings, kinds={"drug": drugs[:4]}
    )
    fitted.save(tmp_path / "model")
    loaded = EntityFinder.load(tmp_path / "model", device="cpu", exact=True)
    (found,) = loaded.find_words([["We", "gave", "codeine", "to", "the", "man", "."]])
    assert [(each.start, each.end, each.kind) for each in found] == [(2, 3, "drug")]


def test_students_learn_the_gates_of_kinds_that_find_entities(finder):
    sentences = [["We", "gave", "codeine", "to", "the", "man", "."]]
    selectors = tuple(
        seeded_selector(number, finder.encoder.width, hidden=4, form=GateForm.THRESHOLDED)
        for number in range(2)
    )
    of_gates = {}
    for finding in [(False, False), (False, True), (True, True)]:
        kinds = replace(finder.model.kinds, classifier=None, gates=KindGates(selectors, finding))
        scorer = WordScorer(finder.encoder, replace(finder.model, kinds=kinds))
        encoded = scorer.encode(sentences)
        columns = [encoded.gate_scores, *encoded.kind_scores[:, list(finding)].T]
        of_gates[finding] = scorer.finding_gates(sentences)
        assert np.array_equal(of_gates[finding], np.max(columns, axis=0))
    assert np.array_equal(of_gates[False, False], finder.gate_scores(sentences))
    assert (of_gates[True, True] > of_gates[False, False]).any()
