"""A small language model with random weights, and batches of random token ids for it."""

import torch

from thresher.lm.model import Architecture, LanguageModel, seeded_model
from thresher.lm.shape import Shape

VOCABULARY = 23


def random_model(*, causal=True, tied=True, output="full", **options) -> LanguageModel:
    shape = Shape(width=24, layers=2, heads=3, context=12, causal=causal, **options)
    return seeded_model(Architecture(VOCABULARY, shape, output, tied), seed=1).double()


def random_ids(batch=2, length=12, *, seed=0):
    return torch.randint(VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(seed))


def with_other_token(batch, position):
    other = batch.clone()
    other[:, position] = (other[:, position] + 1) % VOCABULARY
    return other
