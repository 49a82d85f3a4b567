"""Models trained side by side equal those of the training loop."""

import pytest
import torch
from benchmarks.lm.corpora import Corpus
from benchmarks.lm.many_models import train_many
from tests.lm.training.two_alphabets import (
    VOCABULARY,
    in_two_alphabets,
    parts,
    random_text,
)

from thresher.lm.model import Architecture
from thresher.lm.shape import Shape
from thresher.lm.training.loop import train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState

TEXT, _ = in_two_alphabets(random_text(2000, seed=0), seed=0)
CORPUS = Corpus(
    VOCABULARY,
    TEXT,
    {"all": TEXT[:200]},
    {"all": TEXT[:200]},
    {"all": None},
    parts(2000, 0.05),
)
ARCHITECTURE = Architecture(
    VOCABULARY, Shape(width=16, layers=2, heads=2, context=16, positions="learned")
)
SETTINGS = [
    LanguageModelSettings(steps=12, batch=8, warm_up=3, learning_rate=0.01, **options)
    for options in (
        {"seed": 0},
        {"seed": 1, "margin": "1", "match_rare_tokens": True},
        {"seed": 0, "margin": "norm:0.5", "match_rare_tokens": True, "decay_embeddings": False},
        {"seed": 1, "margin": "0.5:2", "decay_embeddings": False},
    )
]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_each_model_is_that_of_the_training_loop():
    together = train_many(ARCHITECTURE, CORPUS, SETTINGS, device="cpu")
    for number, settings in enumerate(SETTINGS):
        state = TrainingState.new(ARCHITECTURE, settings, CORPUS.counts)
        data = TrainingData(CORPUS.train, CORPUS.validation["all"], CORPUS.counts, CORPUS.parts)
        train(state, data, settings)
        for name, value in state.model.named_parameters():
            assert torch.allclose(together.parameters[name][number], value, atol=2e-5), name
