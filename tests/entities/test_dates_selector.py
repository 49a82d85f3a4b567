"""A model with a second selector that also finds dates."""

from dataclasses import replace

import pytest
import torch

from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.model import FinderModel
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError

DATES = frozenset({"june"})
SENTENCE = ["pm", "she", "left", "in", "June", "2015"]


def with_constant_gates(own, log_odds):
    """Return the selector with the same P(open) for every word."""
    selector = own.selector.shifted(0.0)
    with torch.no_grad():
        selector.outer.weight.zero_()
        selector.outer.bias.zero_()
    return selector.shifted(log_odds)


@pytest.fixture(scope="module")
def finder(new_tiny):
    """A finder whose gates are closed, with a second selector whose gates are open."""
    text = [["the", "mayor", "of", f"Town{i}", "met", f"Mister{i}", "."] for i in range(60)]
    fitted = EntityFinder.fit_words(
        text, encoder=new_tiny(), settings=EntitySettings(epochs=1, contrast=0.0)
    )
    own = fitted.model.selectors[0]
    weights = SignalWeights(capital=0.0, lower=-20.0)
    closed = CalibratedSelector(with_constant_gates(own, -8.0), weights, 0.3)
    opened = CalibratedSelector(with_constant_gates(own, 8.0), weights, 0.3, dates=DATES)
    model = replace(
        fitted.model, selectors=(closed, opened), entity=0, not_names=frozenset({"june", "pm"})
    )
    return EntityFinder(fitted.encoder, model)


def found(finder, sentence):
    return [(each.start, each.end) for each in finder.find_words([sentence])[0]]


def test_dates_are_found_only_if_asked_for(finder):
    assert found(finder, SENTENCE) == []
    assert found(finder.with_dates(), SENTENCE) == [(4, 6)]


def test_words_of_dates_need_no_capital_but_other_words_do(finder):
    sentence = ["pm", "she", "met", "Anna", "in", "june", "2015"]
    assert found(finder.with_dates(), sentence) == [(3, 4), (5, 7)]


def test_the_second_selector_finds_dates_when_it_is_chosen_by_its_number(finder):
    assert finder.with_selector(2).model == finder.with_dates().model
    assert finder.with_selector(1).model.dates is None
    assert finder.with_selector(2).model.not_names == {"pm"}


@pytest.mark.parametrize("asked_before_saving", [False, True])
def test_a_saved_model_finds_the_same_dates(finder, tmp_path, asked_before_saving):
    saved = finder.with_dates() if asked_before_saving else finder
    saved.save(tmp_path / "model")
    loaded = EntityFinder(finder.encoder, FinderModel.read(tmp_path / "model"))
    assert found(loaded.with_dates(), SENTENCE) == [(4, 6)]
    assert (loaded.model.dates is not None) == asked_before_saving


def test_a_model_without_dates_says_which_have_them(finder):
    model = replace(finder.model, selectors=finder.model.selectors[:1])
    with pytest.raises(InputError, match=r"cannot find dates; use multilingual, .*fit --dates"):
        EntityFinder(finder.encoder, model).with_dates()


def test_an_adapted_model_finds_whole_dates_beside_the_names_of_its_first_selector(
    finder, tmp_path
):
    sentences = [["er", "kam", "im", "juli", f"{1900 + i % 90}", "an"] for i in range(400)]
    assert finder.adapted_to_words([sentences]).model.date_expressions is None
    adapted = finder.with_dates().adapted_to_words([sentences])
    assert adapted.model.entity == 0
    assert "juli" in adapted.model.date_expressions.words
    adapted.save(tmp_path / "model")
    loaded = FinderModel.read(tmp_path / "model")
    assert loaded.date_expressions == adapted.model.date_expressions
