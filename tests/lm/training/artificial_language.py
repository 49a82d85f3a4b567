"""Token ids of an artificial language, and training states for it."""

import torch

from thresher.lm.model import Architecture
from thresher.lm.shape import Shape
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState

VOCABULARY = 12
# Each token is followed by one of three, so the best loss is ln 3.
_GENERATOR = torch.Generator().manual_seed(0)
_STEPS = torch.randint(3, (3000,), generator=_GENERATOR)
LANGUAGE = (torch.cumsum(_STEPS * 2 + 1, 0)) % VOCABULARY
COUNTS = torch.bincount(LANGUAGE[:2500], minlength=VOCABULARY)
DATA = TrainingData(LANGUAGE[:2500], LANGUAGE[2500:], COUNTS)
SETTINGS = LanguageModelSettings(
    steps=12, batch=4, warm_up=3, evaluate_every=4, learning_rate=3e-3, validation_tokens=200
)


def start(settings=SETTINGS, *, causal=True, output="full", tied=True, dropout=0.0):
    shape = Shape(width=16, heads=2, layers=2, context=8, causal=causal, dropout=dropout)
    return TrainingState.new(Architecture(VOCABULARY, shape, output, tied), settings, COUNTS)


def changed(**options):
    return LanguageModelSettings(**{**SETTINGS.__dict__, **options})
