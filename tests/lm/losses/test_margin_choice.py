"""The margin that `margin="auto"` stands for."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.lm.losses.margin_choice import MIN_MARGIN, auto_margin

COUNTS = torch.tensor([700, 200, 70, 20, 8, 2])
TOKENS = COUNTS.sum().item()


def zipf(vocabulary):
    return (1e6 / torch.arange(1, vocabulary + 1)).ceil()


def test_the_margin_is_the_stated_formula():
    p = COUNTS.double() / TOKENS
    entropy = -(p * p.log()).sum().item()
    chosen = auto_margin(COUNTS, training_tokens=5 * TOKENS)
    assert chosen.margin == pytest.approx(6 + entropy / 2 - math.log(5), abs=0.01)


@given(st.floats(0.01, 1e6), st.floats(1, 100))
def test_more_passes_never_widen_the_margin(passes, factor):
    one = auto_margin(COUNTS, training_tokens=passes * TOKENS)
    more = auto_margin(COUNTS, training_tokens=passes * factor * TOKENS)
    assert MIN_MARGIN <= more.margin <= one.margin


def test_more_kinds_of_tokens_widen_the_margin():
    margins = []
    for vocabulary in (10, 100, 1000, 10_000):
        counts = zipf(vocabulary)
        margins.append(auto_margin(counts, training_tokens=10 * counts.sum().item()).margin)
    assert margins == sorted(margins)
    assert margins[0] < margins[-1]


def test_reading_a_part_of_the_text_is_like_reading_it_once():
    part, once = (auto_margin(COUNTS, training_tokens=share * TOKENS) for share in (0.1, 1))
    assert part == once


def test_a_run_without_tokens_is_an_error():
    with pytest.raises(ValueError, match="`training_tokens` must be positive, got 0"):
        auto_margin(COUNTS, training_tokens=0)
