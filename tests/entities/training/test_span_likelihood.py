"""The likelihood of the span model against the enumeration of all chains."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.entities.finding.span_model import SpanModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.span_likelihood import _Sample, fit_span_model

PARAMETERS = torch.tensor([0.9, 1.5, -2.5, -0.7, 0.4], dtype=torch.float64)
FLAGS = ("can_start", "can_end", "agrees_outside", "agrees_inside", "agrees_start")


def sample(log_odds, links, **flags):
    """Return a sample of one sentence."""

    def row(values):
        return torch.tensor([values], dtype=torch.float64)

    is_word = torch.ones(1, len(log_odds), dtype=torch.bool)
    return _Sample(
        row(log_odds), row(links), **{name: row(flags[name]) for name in FLAGS}, is_word=is_word
    )


def enumerated_likelihood(each, parameters):
    """Return log Σ agreeing chains / Σ all chains, over all sequences of O, B and I."""
    scale, bias, start_odds, continuation, link = parameters.tolist()
    start = 1 / (1 + math.exp(-start_odds))
    size = each.log_odds.shape[1]
    odds = np.exp(np.minimum(scale * each.log_odds[0].numpy() + bias, 8))
    go_on = 1 / (1 + np.exp(-(continuation + link * each.links[0].numpy())))
    go_on = np.where(each.can_end[0].numpy() > 0, go_on, 1.0)
    agreeing = everything = 0.0
    for tags in itertools.product("OBI", repeat=size):
        if any(a == "O" and b == "I" for a, b in itertools.pairwise(["O", *tags])):
            continue
        weight, agrees = 1.0, 1.0
        for i, tag in enumerate(tags):
            if tag != "I" and i and tags[i - 1] != "O":
                weight *= 1 - go_on[i - 1]
            if tag == "I":
                weight *= go_on[i - 1] * odds[i]
            elif tag == "B":
                weight *= start * odds[i] * each.can_start[0, i].item()
                agrees *= each.agrees_start[0, i].item()
            else:
                weight *= 1 - start
                agrees *= each.agrees_outside[0, i].item()
            if tag != "O":
                agrees *= each.agrees_inside[0, i].item()
        everything += weight
        agreeing += weight * agrees
    return math.log(agreeing / everything) if agreeing > 0 else -math.inf


@settings(deadline=None, max_examples=40)
@given(data=st.data(), size=st.integers(1, 5))
def test_the_likelihood_is_that_of_all_chains_that_agree(data, size):
    values = st.lists(st.floats(-3, 4), min_size=size, max_size=size)
    booleans = st.lists(st.booleans(), min_size=size, max_size=size)
    flags = {name: data.draw(booleans) for name in FLAGS}
    flags["agrees_outside"][0] = True  # so that some chain agrees
    flags["agrees_start"] = [
        a and b for a, b in zip(flags["agrees_start"], flags["can_start"], strict=True)
    ]
    each = sample(data.draw(values), data.draw(values), **flags)
    expected = max(-25.0, enumerated_likelihood(each, PARAMETERS)) / size
    assert each.log_likelihood(PARAMETERS).item() == pytest.approx(expected, abs=1e-9)


def test_the_gradient_is_that_of_finite_differences():
    every = [True] * 4
    each = sample(
        [2.0, -1.0, 3.0, -3.0],
        [0.5, -2.0, 1.0, 0.0],
        can_start=[True, True, False, True],
        can_end=every,
        agrees_outside=[False, True, True, True],
        agrees_inside=[True, True, True, False],
        agrees_start=[True, False, False, True],
    )
    parameters = PARAMETERS.clone().requires_grad_(True)
    assert torch.autograd.gradcheck(each.log_likelihood, [parameters])


def text_with_names(count=60):
    """Sentences with names of two words, some of them directly followed by another name."""
    generator = np.random.default_rng(0)
    words = ["the", "old", "child", "called", "again", "because", "nobody", "there"]
    made = []
    for _ in range(count):
        sentence = ["Then", *generator.choice(words, 5).tolist(), "."]
        sentence[3:3] = ["Anna", "Berg"]
        made.append(sentence)
    return made


def test_fitted_parameters_are_more_likely_than_the_initial_ones():
    sentences = text_with_names()
    raw = RawText.analyse(sentences, PriorKnowledge(priors=("casing",)), EntitySettings())
    flat = [word for words in sentences for word in words]
    gates = np.array([0.9 if word in ("Anna", "Berg") else 0.05 for word in flat], np.float32)
    fitted = fit_span_model(raw, gates, None)
    each = _Sample.draw(raw, gates, None)

    def likelihood(model):
        start = math.log(model.start / (1 - model.start))
        values = [model.scale, model.bias, start, model.continuation, model.link]
        return each.log_likelihood(torch.tensor(values, dtype=torch.float64)).item()

    assert likelihood(fitted) > likelihood(SpanModel()) + 0.05
    assert likelihood(fitted) > -0.1
