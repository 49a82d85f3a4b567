"""An encoder trained from raw sentences."""

from dataclasses import replace

import pytest
import torch

from thresher.encoders import training as from_text
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.training import LEAST_WORDS, SIZES, text_of, train_encoder
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
    monkeypatch.setattr(from_text, "SIZES", {"small": tiny})
    monkeypatch.setattr(from_text, "LEAST_WORDS", 100)


def test_sentences_as_a_text_are_found_in_it_again():
    found = [[word.text for word in each.words] for each in segment(text_of(SENTENCES))]
    assert found == SENTENCES


def test_what_is_trained_reads_words_and_follows_from_its_seed(quick):
    one, same, other = (train_encoder(SENTENCES * 60, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.model.embedding, same.model.embedding)
    assert not torch.equal(one.model.embedding, other.model.embedding)
    assert str(one.settings.margin) == "4"
    encoder = LanguageModelEncoder(one, name="own")
    assert encoder.encode(encoder.batch(SENTENCES)).shape[-1] == 16


def test_too_little_text_is_refused_with_the_minimum():
    with pytest.raises(InputError, match=f"9 words are too few .* at least {LEAST_WORDS:,}"):
        train_encoder(SENTENCES)


def test_an_unknown_size_is_told_with_the_choices(quick):
    with pytest.raises(InputError, match="unknown size 'huge'; choose from small"):
        train_encoder(SENTENCES * 60, size="huge")
