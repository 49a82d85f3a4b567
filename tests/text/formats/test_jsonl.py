"""Texts and spans as JSON lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from thresher.text import Span, to_jsonl

TEXT = "Marie Curie & Paul <b>met</b> in “Paris”."
SPANS = [Span(0, 11, "Marie Curie", 0.9), Span(34, 39, "Paris", 0.25)]


@given(st.text(st.characters()))
def test_any_text_can_be_written_as_one_line(text):
    line = to_jsonl(text, [Span(0, len(text), text, 1 / 3)] if text else [])
    line.encode()
    assert line.endswith("\n")
    assert "\n" not in line[:-1]
    record = json.loads(line)
    assert record["text"] == text
    for span in record["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]


def test_the_fields_of_a_line():
    assert json.loads(to_jsonl(TEXT, SPANS)) == {
        "text": TEXT,
        "spans": [
            {"start": 0, "end": 11, "text": "Marie Curie", "score": 0.9},
            {"start": 34, "end": 39, "text": "Paris", "score": 0.25},
        ],
    }
    assert "“Paris”" in to_jsonl(TEXT, SPANS)
