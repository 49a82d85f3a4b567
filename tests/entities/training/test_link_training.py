"""The link gate against the closed form of its optimum, the observed log-odds of each pair."""

import numpy as np
import pytest
import torch

from thresher.entities.training.link_targets import LinkTargets
from thresher.entities.training.link_training import MIN_LINKS, fit_link_gate

CPU = torch.device("cpu")
WIDTH = 8


def corpus(rates, words=60_000, seed=0):
    """Return words of classes 0 … 3 as vectors, and targets that depend on the class of a word.

    rates: P(linked to the next word) by class
    """
    generator = np.random.default_rng(seed)
    kinds = generator.integers(len(rates), size=words)
    directions = np.linalg.qr(generator.normal(size=(WIDTH, WIDTH)))[0][: len(rates)]
    values = (generator.random(words) < np.array(rates)[kinds]).astype(np.float32)
    values[-1] = np.nan
    return kinds, (3 * directions[kinds]).astype(np.float16), values


def test_the_gate_predicts_the_observed_rates():
    rates = (0.05, 0.3, 0.8)
    kinds, vectors, values = corpus(rates)
    gate = fit_link_gate(
        vectors, LinkTargets(values, np.zeros(len(values), bool)), seed=0, device=CPU
    )
    predicted = (
        torch.sigmoid(gate.of_neighbours(torch.from_numpy(vectors).float())).detach().numpy()
    )
    for kind in range(len(rates)):
        chosen = np.flatnonzero(kinds[:-1] == kind)
        assert predicted[chosen].mean() == pytest.approx(values[chosen].mean(), abs=0.05)


def test_sampling_ordinary_pairs_does_not_change_the_rates():
    rates = (0.0, 0.5)
    kinds, vectors, values = corpus(rates)
    left = np.arange(len(kinds)) % 3 == 0  # these pairs of class 1 look like pairs of class 0
    vectors[left & (kinds == 1)] = vectors[kinds == 0][0]
    plain = (kinds == 0) & (values == 0)
    gate = fit_link_gate(vectors, LinkTargets(values, plain), seed=0, device=CPU)
    predicted = (
        torch.sigmoid(gate.of_neighbours(torch.from_numpy(vectors).float())).detach().numpy()
    )
    looks_ordinary = (vectors == vectors[kinds == 0][0]).all(1)
    chosen = np.flatnonzero(looks_ordinary[:-1])
    assert predicted[chosen].mean() == pytest.approx(values[chosen].mean(), abs=0.05)


def test_too_few_links_give_no_gate():
    _, vectors, values = corpus((0.0,), words=2000)
    values[: MIN_LINKS - 1] = 1
    none = np.zeros(len(values), bool)
    assert fit_link_gate(vectors, LinkTargets(values, none), seed=0, device=CPU) is None
    values[:MIN_LINKS] = 1
    assert fit_link_gate(vectors, LinkTargets(values, none), seed=0, device=CPU) is not None


def test_the_same_seed_gives_the_same_gate():
    _, vectors, values = corpus((0.1, 0.9), words=3000)
    targets = LinkTargets(values, np.zeros(len(values), bool))
    first, second, other = (
        fit_link_gate(vectors, targets, seed=seed, device=CPU).state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
