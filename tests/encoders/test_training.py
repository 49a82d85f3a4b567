"""An encoder trained from raw sentences."""

from dataclasses import replace

import pytest
import torch

from thresher.encoders import training
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.training import MIN_WORDS, SIZES, sentences_to_text, train_encoder
from thresher.errors import InputError
from thresher.text.sentences import segment

SENTENCES = [["Ali", "went", "to", "Lagos", "."], ["አቶ", "ከበደ", "ሄዱ", "።"]]


@pytest.fixture
def quick(monkeypatch):
    tiny = replace(
        SIZES["small"],
        shape=replace(SIZES["small"].shape, width=16, layers=2, heads=2, context=16),
        settings=replace(SIZES["small"].settings, steps=4, batch=2, evaluate_every=2),
    )
    monkeypatch.setattr(training, "SIZES", {"small": tiny})
    monkeypatch.setattr(training, "MIN_WORDS", 100)


def test_sentences_as_text_are_segmented_into_the_same_sentences():
    found = [[word.text for word in each.words] for each in segment(sentences_to_text(SENTENCES))]
    assert found == SENTENCES


def test_training_is_reproducible_and_gives_an_encoder(quick):
    one, same, other = (train_encoder(SENTENCES * 60, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.model.embedding, same.model.embedding)
    assert not torch.equal(one.model.embedding, other.model.embedding)
    assert str(one.settings.margin) == "4"
    encoder = LanguageModelEncoder(one, name="own")
    assert encoder.encode(encoder.batch(SENTENCES)).shape[-1] == 16


def test_too_little_text_is_rejected_with_the_minimum():
    with pytest.raises(InputError, match=f"9 words are too few .* at least {MIN_WORDS:,}"):
        train_encoder(SENTENCES)


def test_an_unknown_size_is_rejected_with_the_choices(quick):
    with pytest.raises(InputError, match="unknown `size` 'huge'; choose from small"):
        train_encoder(SENTENCES * 60, size="huge")
