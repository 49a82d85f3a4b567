"""Spans, and what is written from them: JSON lines and a page of HTML."""

import json
import math
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import Span, to_html, to_jsonl

TEXT = "Marie Curie & Paul <b>met</b> in “Paris”."
SPANS = [Span(0, 11, "Marie Curie", 0.9), Span(34, 39, "Paris", 0.25)]


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
def test_a_span_that_makes_no_sense_cannot_exist(start, end, text, score):
    with pytest.raises(ValueError, match=r"a span must cover its text|a score lies in \[0, 1\]"):
        Span(start, end, text, score)


@given(st.text(st.characters()))
def test_a_line_of_json_holds_any_text(text):
    line = to_jsonl(text, [Span(0, len(text), text, 1 / 3)] if text else [])
    line.encode()
    assert line.endswith("\n")
    assert "\n" not in line[:-1]
    record = json.loads(line)
    assert record["text"] == text
    for span in record["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]


def test_a_line_of_json_is_this():
    assert json.loads(to_jsonl(TEXT, SPANS)) == {
        "text": TEXT,
        "spans": [
            {"start": 0, "end": 11, "text": "Marie Curie", "score": 0.9},
            {"start": 34, "end": 39, "text": "Paris", "score": 0.25},
        ],
    }
    assert "“Paris”" in to_jsonl(TEXT, SPANS)


class Page(HTMLParser):
    """The paragraphs and marks of a page, as a browser would see them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.paragraphs, self.marks = [], set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "p":
            self.paragraphs.append("")
        if tag == "mark":
            self.marks.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "p" in self.open:
            self.paragraphs[-1] += data
        if "mark" in self.open:
            self.marks[-1][1] += data


def test_a_page_shows_the_text_and_marks_the_spans():
    page = Page("".join(to_html([(TEXT, SPANS), ("plain", [])], title="A <title>")))
    assert page.paragraphs == [TEXT, "plain"]
    assert [(text, attributes["title"]) for attributes, text in page.marks] == [
        ("Marie Curie", "0.90"),
        ("Paris", "0.25"),
    ]
    assert [attributes["style"] for attributes, _ in page.marks] == ["--score:0.90", "--score:0.25"]
    assert "b" not in page.tags


def test_a_heading_stands_above_its_text():
    page = "".join(to_html([("one", [], "<a> & b"), ("two", [])]))
    assert page.count("<h2>") == 1
    assert '<h2>&lt;a&gt; &amp; b</h2>\n<p dir="auto">one</p>' in page


def test_a_page_needs_no_other_file_and_knows_the_dark():
    page = "".join(to_html([(TEXT, SPANS)]))
    assert "prefers-color-scheme: dark" in page
    assert not Page(page).tags & {"script", "link", "img"}
    assert "http" not in page


@given(st.text(st.characters()))
def test_a_page_can_be_written_whatever_the_text(text):
    page = "".join(to_html([(text, [])])).encode().decode()
    shown = Page(page).paragraphs[0]
    assert len(shown) == len(text)
    assert all(b in (a, "\ufffd") for a, b in zip(text, shown, strict=True))


@pytest.mark.parametrize(
    "spans", [[Span(0, 5, "Other", 1)], [Span(0, 5, "Marie", 1), Span(3, 6, "ie ", 1)]]
)
def test_a_page_refuses_spans_that_are_not_of_its_text_or_overlap(spans):
    with pytest.raises(ValueError, match="not a span of this text"):
        "".join(to_html([(TEXT, spans)]))
