"""Spans check themselves."""

import math

import pytest

from thresher.text import Span


@pytest.mark.parametrize(
    ("start", "end", "text", "score"),
    [
        (0, 0, "", 0.5),
        (-1, 1, "ab", 0.5),
        (3, 2, "a", 0.5),
        (0, 3, "ab", 0.5),
        (0, 2, "ab", 1.01),
        (0, 2, "ab", -0.01),
        (0, 2, "ab", math.nan),
    ],
)
def test_an_inconsistent_span_is_refused(start, end, text, score):
    with pytest.raises(ValueError, match=r"the length of `text`, got|must be between 0 and 1"):
        Span(start, end, text, score)
