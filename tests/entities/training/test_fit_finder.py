"""The choice of an encoder without labels."""

import numpy as np
import pytest
import torch

from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import prior_cross_entropy
from thresher.entities.training.fit_finder import choose_encoder
from thresher.entities.training.settings import EntitySettings
from thresher.progress import SilentProgress

SETTINGS = EntitySettings(epochs=2, contrast=0.0, hidden=16)


@pytest.fixture
def sentences():
    return [
        ["the", "mayor", "of", f"Town{i % 9}", "met", f"Mister{i % 7}", "."] for i in range(500)
    ]


@pytest.fixture
def blind(new_tiny):
    """An encoder that gives every token the same vector."""

    class Blind(new_tiny):
        name = "blind"

        def encode(self, batch):
            return torch.ones_like(super().encode(batch))

    return Blind()


@pytest.mark.parametrize("blind_first", [True, False])
def test_the_encoder_that_predicts_capitals_of_held_out_text_is_chosen(
    sentences, tiny, blind, blind_first
):
    encoders = [blind, tiny] if blind_first else [tiny, blind]
    chosen, losses = choose_encoder(
        encoders,
        sentences,
        settings=SETTINGS,
        prior_knowledge=PriorKnowledge(),
        progress=SilentProgress(),
    )
    assert chosen is tiny
    assert losses[tiny.name] < losses["blind"]


def test_a_finder_is_fitted_with_the_chosen_encoder(sentences, tiny, blind):
    finder = EntityFinder.fit_words(sentences, encoder=[blind, tiny], settings=SETTINGS)
    assert finder.encoder is tiny
    assert set(finder.model.learned_from["encoders"]) == {"blind", tiny.name}


def test_one_encoder_is_not_compared(sentences, tiny):
    finder = EntityFinder.fit_words(sentences, encoder=tiny, settings=SETTINGS)
    assert "encoders" not in finder.model.learned_from


def test_the_cross_entropy_to_the_prior_is_that_of_its_definition():
    gates = np.array([0.9, 0.2, 0.5], dtype=np.float32)
    prior = np.array([1.0, 0.25, np.nan], dtype=np.float32)
    expected = -(np.log(0.9) + 0.25 * np.log(0.2) + 0.75 * np.log(0.8)) / 2
    assert prior_cross_entropy(gates, prior) == pytest.approx(expected, rel=1e-5)
