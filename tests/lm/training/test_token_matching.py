"""Matching tokens by their neighbours: the counterparts of a second alphabet are found."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lm.training.two_alphabets import (
    LETTERS,
    VOCABULARY,
    in_two_alphabets,
    parts,
    random_text,
)

from thresher.lm.training import token_matching
from thresher.lm.training.batches import Task
from thresher.lm.training.token_matching import count_pairs, match_tokens, rarely_seen


def pairs_of(ids, *, rare=0.03, vocabulary=VOCABULARY, steps=100):
    task = Task(vocabulary, context=32)
    weights = parts(len(ids) // 2, rare)
    windows = (
        task.training_windows(ids, size=64, seed=0, step=step, parts=weights)
        for step in range(steps)
    )
    return count_pairs(windows, vocabulary)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.lists(st.integers(0, 6), min_size=2, max_size=9).filter(len), min_size=1, max_size=8
    ),
    st.integers(1, 20),
)
def test_pairs_are_counted_within_windows(windows, at_once):
    expected = torch.zeros(7, 7)
    for window in windows:
        for first, second in pairwise(window):
            expected[first, second] += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_matching, "_PAIRS_AT_ONCE", at_once)
        counted = count_pairs((torch.tensor(window) for window in windows), 7)
    every = torch.arange(7)
    assert torch.equal(counted.block(every, every), expected)
    some = torch.tensor([5, 2])
    assert torch.equal(counted.block(some, every), expected[some])


@pytest.mark.parametrize("seed", range(5))
def test_every_letter_of_a_rare_alphabet_is_matched_with_its_counterpart(seed):
    ids, stands_for = in_two_alphabets(random_text(20_000, seed=seed), seed=seed)
    found = match_tokens(pairs_of(ids))
    assert sorted(found.tokens.tolist()) == list(range(LETTERS, VOCABULARY))
    best = found.matches[torch.arange(LETTERS), found.weights.argmax(1)]
    assert torch.equal(best, stands_for[found.tokens - LETTERS])
    assert found.weights.sum(1).sub(1).abs().max() < 1e-5
    assert (found.matches < LETTERS).all()


def test_rare_tokens_of_a_frequent_language_are_not_in_rarely_seen_text():
    text = random_text(20_000, seed=0)
    counts = torch.bincount(text, minlength=LETTERS)
    assert counts.min() < counts.max() / 8
    ids, _ = in_two_alphabets(text, seed=0)
    expected = torch.arange(VOCABULARY) >= LETTERS
    assert torch.equal(rarely_seen(pairs_of(ids)), expected)


def test_a_text_in_one_language_has_nothing_to_match():
    windows = random_text(20_000, seed=0).view(-1, 50)
    assert match_tokens(count_pairs(windows, LETTERS)) is None
    assert match_tokens(count_pairs([], LETTERS)) is None


def test_tokens_that_both_languages_share_keep_their_own_embedding():
    text = random_text(20_000, seed=1)
    ids, stands_for = in_two_alphabets(text, seed=1)
    shared = VOCABULARY  # a space after every third letter, in both languages
    ids = torch.cat([ids.view(2, -1, 4), torch.full((2, 5000, 1), shared)], 2).flatten()
    found = match_tokens(pairs_of(ids, vocabulary=VOCABULARY + 1))
    assert shared not in found.tokens
    right = found.matches[:, 0] == stands_for[found.tokens - LETTERS]
    assert right.float().mean() >= 0.9


def test_a_token_that_never_occurs_is_neither_matched_nor_a_match():
    ids, _ = in_two_alphabets(random_text(20_000, seed=2), seed=2)
    found = match_tokens(pairs_of(ids, vocabulary=VOCABULARY + 3))
    assert found.tokens.max() < VOCABULARY
    assert found.matches.max() < VOCABULARY
