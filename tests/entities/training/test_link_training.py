"""The link gate against the closed form of its optimum, the observed log-odds of each pair."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.link_training import (
    MIN_LINKS,
    LinkTargets,
    fit_link_gate,
    link_targets,
)
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings

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


def targets_of(sentence, *, others=(), common=frozenset()):
    """Return {(word, next word): target} of the first sentence; NaN is None."""
    sentences = [sentence.split(), *(each.split() for each in others)]
    raw = RawText.analyse(
        sentences, PriorKnowledge(priors=("casing",)), EntitySettings(), common=common
    )
    values = link_targets(raw).values.tolist()
    pairs = zip(pairwise(sentences[0]), values, strict=False)
    return {pair: None if math.isnan(value) else value for pair, value in pairs}


@pytest.mark.parametrize(
    ("sentence", "pair", "target"),
    [
        ("we visited Anna Berg yesterday afternoon", ("Anna", "Berg"), 1),
        ("we visited Anna Berg yesterday afternoon", ("Berg", "yesterday"), 0),
        ("we visited Anna Berg yesterday afternoon", ("visited", "Anna"), 0),
        ("we visited Anna Berg yesterday afternoon", ("yesterday", "afternoon"), 0),
        ("then somebody signed the Treaty of Rome there", ("Treaty", "of"), 1),
        ("then somebody signed the Treaty of Rome there", ("of", "Rome"), 1),
        ("they heard the sound of Rome there again", ("of", "Rome"), None),
        ("then somebody from Rome of course agreed", ("Rome", "of"), 0),
        ("nobody reads about the Battle of the Bulge today", ("Battle", "of"), 1),
        ("nobody reads about the Battle of the Bulge today", ("of", "the"), 1),
        ("nobody reads about the Battle of the Bulge today", ("the", "Bulge"), 1),
        ("they founded the Center for Justice there", ("for", "Justice"), 1),
        ("they often watch Anna and others arrive", ("Anna", "and"), 0),
        ("everybody thanked President Lincoln for coming", ("President", "Lincoln"), 0),
        ("they bought the Pixel 10 yesterday evening", ("Pixel", "10"), None),
        ("nobody expected the Anglo - Dutch alliance", ("Anglo", "-"), None),
    ],
)
def test_the_case_of_neighbours_decides(sentence, pair, target):
    assert targets_of(sentence)[pair] == target


def test_no_target_links_two_sentences():
    raw = RawText.analyse(
        [["They", "met", "Anna"], ["Berg", "went", "home"]],
        PriorKnowledge(priors=("casing",)),
        EntitySettings(),
    )
    assert np.isnan(link_targets(raw).values[[2, 5]]).all()


def test_a_rare_term_is_linked_to_its_constant_neighbour():
    others = [
        "doctors treat zostral neuralgia with rest",
        "severe zostral neuralgia was seen again",
        "we saw zostral neuralgia in children",
        *["other people said nothing about it then"] * 400,  # so that a passage is a small part
    ]
    common = frozenset("doctors treat with rest severe was seen again we saw in children".split())
    found = targets_of("patients with zostral neuralgia improved", others=others, common=common)
    assert found["zostral", "neuralgia"] == 1
    assert found["with", "zostral"] == 0


def test_pairs_of_ordinary_words_are_marked():
    raw = RawText.analyse(
        [["they", "often", "visited", "Anna", "Berg", "there"]],
        PriorKnowledge(priors=("casing",)),
        EntitySettings(),
    )
    assert link_targets(raw).plain.tolist() == [False, True, False, False, False, False]
