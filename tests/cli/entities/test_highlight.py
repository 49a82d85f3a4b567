"""Texts on a terminal: coloured entities, and no control characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color

from thresher.cli.entities.highlight import SHADES, highlight, highlighted_documents
from thresher.text.annotations import Span
from thresher.text.corpus import Document
from thresher.text.kind_colours import COLOURS, KindColours

TEXT = "Magda left Oslo."
SPANS = [Span(0, 5, "Magda", 0.95), Span(11, 15, "Oslo", 0.3)]


def shades_of(shown):
    return {
        shown.plain[span.start : span.end]: str(span.style).rpartition(" ")[2]
        for span in shown.spans
    }


def test_text_is_kept_and_spans_are_shaded_by_score():
    shown = highlight(TEXT, SPANS)
    assert shown.plain == TEXT
    assert shades_of(shown) == {"Magda": SHADES[-1][1], "Oslo": SHADES[0][1]}


@pytest.mark.parametrize("score", [0.0, 0.5, 0.7, 0.9, 1.0])
def test_every_score_has_a_shade_and_higher_ones_are_stronger(score):
    [shade] = shades_of(highlight("Oslo", [Span(0, 4, "Oslo", score)])).values()
    expected = max(least for least, _ in SHADES if least <= score)
    assert dict(SHADES)[expected] == shade


@pytest.mark.parametrize("shade", [*(shade for _, shade in SHADES), *COLOURS])
def test_black_is_readable_on_every_colour(shade):
    """WCAG requires a contrast of 4.5; black on luminance L has (L + 0.05) / 0.05."""
    channels = [value / 255 for value in Color.parse(shade).get_truecolor()]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert (luminance + 0.05) / 0.05 > 4.5


def test_control_characters_do_not_reach_the_terminal():
    text = "\x1b[2JMagda\x07 left\x9b Oslo.\ttab\nline"
    shown = highlight(text, [Span(4, 9, "Magda", 0.9)]).plain
    assert shown == "\ufffd[2JMagda\ufffd left\ufffd Oslo.\ttab\nline"


def test_windows_line_ends_become_plain_ones():
    shown = highlight("Magda\r\nleft\rOslo.\r\n", [Span(0, 5, "Magda", 0.9)]).plain
    assert shown == "Magda\nleft\ufffdOslo."


def test_each_source_is_named_once():
    documents = [Document(TEXT, name) for name in ("a.txt", "a.txt", "-")]
    shown = "".join(highlighted_documents((document, SPANS) for document in documents))
    assert shown.count("a.txt") == 1
    assert shown.count("standard input") == 1
    assert "6 entities" in shown


TYPED = [Span(0, 5, "Magda", 0.95, "person", 0.9), Span(11, 15, "Oslo", 0.3, "place", 0.6)]


def test_every_kind_has_a_colour_of_its_own_and_a_legend(monkeypatch):
    monkeypatch.setenv("COLORTERM", "truecolor")
    shades = shades_of(highlight(TEXT, TYPED))
    assert shades == {"Magda": COLOURS[0], "Oslo": COLOURS[1]}
    shown = "".join(highlighted_documents([(Document(TEXT, "notes.txt"), [*TYPED])] * 3))
    legend = re.sub("\x1b\\[[0-9;]*m", "", shown).splitlines()[-1]
    assert legend.split() == "6 entities person 3 place 3".split()


def test_a_terminal_with_16_colours_gets_brackets_in_which_kinds_differ(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = "".join(highlighted_documents([(Document(TEXT, "notes.txt"), [*TYPED])]))
    assert "[Magda|person]" in shown
    assert "[Oslo|place]" in shown


@given(st.lists(st.text(min_size=1), unique=True, max_size=len(COLOURS)))
def test_kinds_share_a_colour_only_if_there_are_more_than_colours(kinds):
    colours = KindColours(kinds)
    assert len({colours.colour(kind) for kind in kinds}) == len(kinds)


@pytest.mark.parametrize(
    ("spans", "marked", "counted"),
    [
        (SPANS, "[Magda] left [Oslo].", "2 entities"),
        (TYPED, "[Magda|person] left [Oslo|place].", "person  1"),
    ],
)
def test_without_colours_entities_and_kinds_are_in_brackets(spans, marked, counted, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    shown = "".join(highlighted_documents([(Document(TEXT, "notes.txt"), spans)]))
    assert marked in shown
    assert counted in shown
    assert "\x1b" not in shown


@given(st.lists(st.tuples(st.text("[]|\\a "), st.text("[]|\\b", min_size=1), st.booleans())))
def test_brackets_of_a_text_are_not_taken_for_entities(parts):
    text, spans = "", []
    for before, name, is_typed in parts:
        text += before
        spans.append(Span(len(text), len(text) + len(name), name, 1, "a|]" if is_typed else None))
        text += name
    shown = highlight(f"{text}.", spans, coloured=False).plain
    pieces = re.findall(r"\\.|\[|\]|\||[^\\]", shown)
    read, found, is_inside, kind = "", [], False, None
    for piece in pieces:
        if piece == "[":
            is_inside, start, kind = True, len(read), None
        elif piece == "]":
            is_inside = False
            found.append(Span(start, len(read), read[start:], 1, kind))
            kind = None
        elif piece == "|" and is_inside:
            kind = ""
        elif kind is not None:
            kind += piece[-1]
        else:
            read += piece[-1]
    assert (read, found) == (f"{text}.", spans)
