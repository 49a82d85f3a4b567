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


@pytest.mark.parametrize(
    ("kind", "score"), [("", None), (None, 0.5), ("person", 1.5), ("person", math.nan)]
)
def test_an_inconsistent_kind_is_refused(kind, score):
    with pytest.raises(ValueError, match=r"`kind` must be|`kind_score` must be"):
        Span(0, 2, "ab", 0.5, kind, score)


def test_only_a_span_with_a_kind_shows_it():
    assert repr(Span(0, 2, "ab", 0.5)) == "Span(start=0, end=2, text='ab', score=0.5)"
    typed = Span(0, 2, "ab", 0.5, "place", 0.75)
    assert eval(repr(typed)) == typed
    assert repr(typed).endswith("score=0.5, kind='place', kind_score=0.75)")
