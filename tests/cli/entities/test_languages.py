"""Texts that a model cannot read, and the options --adapt and --model auto."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities import preparation
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.text.document import Document

ENGLISH = "Marie Curie moved to Paris with her sister, and then she met Pierre. " * 150
DANISH = "Marie Curie flyttede til Paris med sin søster, og så mødte hun Pierre. " * 160


def test_a_text_that_the_model_cannot_read_is_reported_with_the_model_that_can(run, tmp_path):
    path = tmp_path / "ja.txt"
    path.write_text("東京は日本の首都です。", encoding="utf-8")
    outcome = run("find", str(path), "--to", "jsonl")
    assert outcome.status == 1
    assert "ja.txt:1: the text is in the script" in outcome.err
    assert "use --model multilingual" in outcome.err


@pytest.fixture
def estimated(monkeypatch):
    """The numbers of words to which models are adapted, by the name of the model."""
    words = {}

    def load_entity_finder(choice, *, quiet):
        def estimate_adaptation(texts, background):
            words[choice.name] = sum(len(each) for text in [*texts, *background] for each in text)
            return Adaptation(SignalWeights(), 0.5, frozenset(), words[choice.name])

        return SimpleNamespace(estimate_adaptation=estimate_adaptation)

    monkeypatch.setattr(preparation, "load_entity_finder", load_entity_finder)
    return words


@pytest.mark.parametrize(
    ("model", "option", "adapted"),
    [
        ("english", None, set()),
        ("english", True, {"english"}),
        ("multilingual", None, {"multilingual"}),
        ("multilingual", False, set()),
        ("auto", None, {"multilingual"}),
        ("auto", True, {"english", "multilingual"}),
        ("auto", False, set()),
    ],
)
def test_models_are_adapted_to_the_texts_that_they_read(estimated, model, option, adapted):
    documents = [Document(ENGLISH, "en.txt"), Document(DANISH, "da.txt")]
    choice, all_documents = preparation.adapted(
        FinderChoice(Path(model)), iter(documents), adapt=option, quiet=True
    )
    assert list(all_documents) == documents
    assert set(choice.adaptations) == set(estimated) == adapted
    if model == "auto" and option:
        assert estimated == {"english": 150 * 15, "multilingual": 160 * 15}


def test_a_short_text_is_not_adapted_to(estimated):
    choice = FinderChoice(Path("multilingual"))
    documents = [Document(DANISH[:500], "da.txt")]
    assert preparation.adapted(choice, iter(documents), adapt=True, quiet=True)[0] == choice
    assert not estimated


def test_background_text_is_added_to_the_text_that_a_model_is_adapted_to(estimated, tmp_path):
    path = tmp_path / "background.txt"
    path.write_text(DANISH, encoding="utf-8")
    documents = [Document(DANISH[:500], "da.txt"), Document(ENGLISH, "en.txt")]
    words = sum(len(each.texts) for each in documents[0].segmented())
    preparation.adapted(
        FinderChoice(Path("auto")),
        iter(documents),
        adapt=None,
        background=[str(path)],
        quiet=True,
    )
    assert estimated == {"multilingual": words + 160 * 15}


def test_background_text_without_adaptation_is_refused(run):
    outcome = run("find", "Anna left.", "--no-adapt", "--background", "more.txt")
    assert outcome.status == 1
    assert outcome.err == "thresher: --background is only read to adapt a model; add --adapt\n"


def test_the_table_of_entities_adapts_as_find_does(run, estimated, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(ENGLISH, encoding="utf-8")
    run("entities", str(path))
    assert not estimated
    run("entities", str(path), "--adapt")
    assert estimated == {"english": 150 * 15}
