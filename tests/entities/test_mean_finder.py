from dataclasses import replace

import numpy as np
import pytest

from thresher import EntityFinder
from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.run import model_identity
from thresher.entities.finding.signal_weights import gate_log_odds
from thresher.entities.mean_finder import MeanFinder
from thresher.errors import InputError

TEXT = "Marie Curie moved to Paris. Later she led the Radium Institute."
WORDS = [["Marie", "Curie", "left", "Paris", "."], ["she", "left", "the", "Radium", "Institute"]]


@pytest.fixture(scope="module")
def finders():
    return [EntityFinder.load(name, device="cpu") for name in ("english", "small-english")]


def choice(name):
    return FinderChoice(device="cpu").with_model(name)


def test_gates_and_links_are_the_mean_of_the_log_odds(finders):
    found = MeanFinder(finders).encode(WORDS)
    parts = [finder.word_scorer.gates_and_links(WORDS) for finder in finders]
    log_odds = np.mean([gate_log_odds(gates) for gates, _ in parts], axis=0)
    assert gate_log_odds(found.gate_scores) == pytest.approx(log_odds, abs=1e-4)
    assert found.links == pytest.approx(np.mean([links for _, links in parts], axis=0))


def test_the_mean_of_a_finder_with_itself_is_that_finder(finders):
    english = finders[0]
    found, own = MeanFinder([english, english]).find(TEXT), english.find(TEXT)
    assert [(s.start, s.end, s.kind) for s in found] == [(s.start, s.end, s.kind) for s in own]
    assert [s.score for s in found] == pytest.approx([s.score for s in own], abs=1e-5)


def test_a_finder_without_link_gate_leaves_the_links_of_the_others(finders):
    english, fast = finders[0], EntityFinder.load("fast-english", device="cpu")
    _, links = english.word_scorer.gates_and_links(WORDS)
    assert np.array_equal(MeanFinder([english, fast]).encode(WORDS).links, links)
    assert MeanFinder([fast, fast]).encode(WORDS).links is None


def test_names_joined_by_plus_load_their_mean(finders):
    finder = choice("english+small-english").load()
    assert list(finder.find(TEXT)) == list(MeanFinder(finders).find(TEXT))
    assert finder.kinds == finders[0].kinds
    assert finder.threshold == finders[0].threshold


def test_a_folder_whose_name_contains_plus_is_one_model(tmp_path, finders):
    folder = tmp_path / "english+small-english"
    finders[1].save(folder)
    assert isinstance(choice(str(folder)).load(), EntityFinder)


def test_relative_folders_become_absolute_and_stay_adapted(tmp_path, finders, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finders[1].save("mine")
    adaptation = finders[1].estimate_adaptation([WORDS * 300])
    adapted = replace(choice("mine+english"), adaptations={"mine": adaptation})
    found = adapted.with_absolute_folder().load()
    assert found.threshold == adapted.load().threshold == adaptation.threshold
    made = choice("english+mine").with_absolute_folder()
    assert made.name == f"english+{tmp_path / 'mine'}"
    assert model_identity(made) == model_identity(choice("english+mine"))
    assert model_identity(made) != model_identity(choice("english"))


def test_the_first_model_is_adapted(finders):
    texts = [[["Marie", "Curie", "left", "Paris", "."]] * 500]
    adapted = MeanFinder(finders).adapted_to_words(texts)
    own = finders[0].adapted_to_words(texts)
    assert adapted.threshold == own.threshold != finders[0].threshold
    assert adapted.finders[1] is finders[1]


@pytest.mark.parametrize("name", ["english+nothing", "english+", "+", "english+auto"])
def test_unknown_parts_are_reported(name):
    with pytest.raises(InputError):
        choice(name).load()


def test_a_command_that_needs_one_model_says_so():
    with pytest.raises(InputError, match="is a mean of models; this needs one of them"):
        choice("english+small-english").load_entity_finder()
