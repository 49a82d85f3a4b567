"""A page of HTML with highlighted spans, parsed as a browser does."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import Span, to_html

TEXT = "Marie Curie & Paul <b>met</b> in “Paris”."
SPANS = [Span(0, 11, "Marie Curie", 0.9), Span(34, 39, "Paris", 0.25)]


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


def test_a_page_shows_the_text_and_highlights_the_spans():
    page = Page("".join(to_html([(TEXT, SPANS), ("plain", [])], title="A <title>")))
    assert page.paragraphs == [TEXT, "plain"]
    assert [(text, attributes["title"]) for attributes, text in page.marks] == [
        ("Marie Curie", "0.90"),
        ("Paris", "0.25"),
    ]
    assert [attributes["style"] for attributes, _ in page.marks] == ["--score:0.90", "--score:0.25"]
    assert "b" not in page.tags


def test_a_heading_is_written_above_its_text():
    page = "".join(to_html([("one", [], "<a> & b"), ("two", [])]))
    assert page.count("<h2>") == 1
    assert '<h2>&lt;a&gt; &amp; b</h2>\n<p dir="auto">one</p>' in page


def test_a_page_is_self_contained_and_has_a_dark_mode():
    page = "".join(to_html([(TEXT, SPANS)]))
    assert "prefers-color-scheme: dark" in page
    assert not Page(page).tags & {"script", "link", "img"}
    assert "http" not in page


@given(st.text(st.characters()))
def test_any_text_can_be_written(text):
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


def test_kinds_have_colours_names_and_a_legend():
    typed = [Span(0, 11, "Marie Curie", 0.9, 'per"son', 0.8), Span(34, 39, "Paris", 0.25)]
    written = "".join(to_html([("no entity", []), (TEXT, typed), (TEXT, typed)]))
    page = Page(written)
    assert page.paragraphs == ["no entity", TEXT, TEXT]
    first, second = (attributes for attributes, _ in page.marks[:2])
    assert (first["data-kind"], first["title"]) == ('per"son', 'per"son 0.90')
    assert "data-kind" not in second
    assert first["style"].removeprefix("--kind:") in written.partition("<footer")[2]
    assert "per&quot;son 2</span>" in written
    assert "other 2</span></footer>" in written
    assert "<footer" not in "".join(to_html([(TEXT, SPANS)]))
