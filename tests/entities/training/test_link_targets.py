"""Targets of the link gate against sentences whose names are known."""

import math
from itertools import pairwise

import numpy as np
import pytest

from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.link_targets import link_targets
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings


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
