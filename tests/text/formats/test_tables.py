"""Tables of rows, read back by the csv module and by pyarrow."""

import csv
import io

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import Span
from thresher.text.document import Document
from thresher.text.formats.jsonl import SPAN_COLUMNS, TEXT_COLUMNS, span_rows
from thresher.text.formats.tables import to_csv, to_parquet, unescape_formula

texts = st.text(st.characters(codec="utf-8"))
values = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), texts)


@st.composite
def documents(draw):
    """A document with some fields and spans, whose cells may look like formulas."""
    start = draw(st.sampled_from(["", "=", "+", "-", "@", "'", "'=", "\t", "\r"]))
    text = start + draw(st.text(st.characters(codec="utf-8"), min_size=2))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = []
    for low, high in zip(edges[::2], edges[1::2], strict=False):
        kind = draw(st.sampled_from([None, "person", "=1+1", "a,b"]))
        kind_score = None if kind is None else draw(st.sampled_from([None, 0.25, 1.0]))
        score = draw(st.sampled_from([0.0, 0.5, 0.123456]))
        spans.append(Span(low, high, text[low:high], score, kind, kind_score))
    names = st.sampled_from(["id", "text", "score", "=name", "lang"])
    fields = draw(st.dictionaries(names, texts, max_size=3))
    return Document(text, "notes.jsonl", draw(st.integers(1, 9)), fields=fields), spans


def rows_of(found):
    return [row for document, spans in found for row in span_rows(document, spans)]


def span_of(row, *, number=float):
    kind_score = row["kind_score"]
    return Span(
        int(row["start"]),
        int(row["end"]),
        row["text"],
        number(row["score"]),
        row["kind"] or None,
        number(kind_score) if kind_score not in ("", None) else None,
    )


@pytest.mark.parametrize("delimiter", [",", "\t"])
@given(st.lists(documents(), max_size=4))
def test_the_csv_module_reads_the_same_spans_and_fields(delimiter, found):
    written = "".join(
        to_csv(rows_of(found), first=TEXT_COLUMNS, last=SPAN_COLUMNS, delimiter=delimiter)
    )
    header, *lines = csv.reader(io.StringIO(written, newline=""), delimiter=delimiter)
    header = [unescape_formula(name) for name in header]
    assert header[:3] == list(TEXT_COLUMNS)
    assert header[-6:] == list(SPAN_COLUMNS)
    read = [dict(zip(header, map(unescape_formula, cells), strict=True)) for cells in lines]
    assert [span_of(row) for row in read if row["text"]] == [
        span for _, spans in found for span in spans
    ]
    for row, expected in zip(read, rows_of(found), strict=True):
        others = expected.keys() - {*SPAN_COLUMNS, "line", "offset"}
        assert {name: row[name] for name in others} == {name: expected[name] for name in others}
        assert int(row["line"]) == expected["line"]


@given(st.lists(documents(), max_size=4))
def test_pyarrow_reads_the_same_spans_and_fields(found):
    written = b"".join(to_parquet(rows_of(found), first=TEXT_COLUMNS, last=SPAN_COLUMNS))
    table = pyarrow.parquet.read_table(io.BytesIO(written))
    assert table.column_names[:3] == list(TEXT_COLUMNS)
    assert table.column_names[-6:] == list(SPAN_COLUMNS)
    read = table.to_pylist()
    assert [span_of(row) for row in read if row["text"]] == [
        span for _, spans in found for span in spans
    ]
    for row, expected in zip(read, rows_of(found), strict=True):
        assert {name: value for name, value in row.items() if value is not None} == {
            name: value for name, value in expected.items() if value is not None
        }


@given(st.lists(st.dictionaries(st.sampled_from("abc"), values), max_size=5))
def test_values_keep_their_type_if_all_of_a_column_have_one(rows):
    table = pyarrow.parquet.read_table(io.BytesIO(b"".join(to_parquet(rows, first=["a"]))))
    read = table.to_pylist()
    for name in table.column_names:
        column = [row.get(name) for row in rows]
        if len({type(value) for value in column if value is not None}) <= 1:
            assert [row[name] for row in read] == column
        else:
            assert [row[name] is None for row in read] == [value is None for value in column]


def test_mixed_types_and_large_numbers_are_json():
    rows = [{"a": 1, "b": 2**70, "c": [1, "x"], "d": 1}, {"a": "x", "b": 1, "d": 0.5}]
    read = pyarrow.parquet.read_table(io.BytesIO(b"".join(to_parquet(rows)))).to_pylist()
    assert read == [
        {"a": "1", "b": str(2**70), "c": ["1", "x"], "d": 1.0},
        {"a": "x", "b": "1", "c": None, "d": 0.5},
    ]


@pytest.mark.parametrize("cell", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_is_a_formula(cell):
    [_, row] = csv.reader(io.StringIO("".join(to_csv([{"a": cell}])), newline=""))
    assert row == [f"'{cell}"]
    [_, row] = csv.reader(
        io.StringIO("".join(to_csv([{"a": cell}], escape_formulas=False)), newline="")
    )
    assert row == [cell]


def test_a_table_without_rows_has_a_header():
    assert "".join(to_csv([], first=["a"], last=["b"])) == "a,b\n"


@pytest.mark.parametrize("source", ["-", "-:12"])
def test_standard_input_is_written_without_an_apostrophe(source):
    lines = list(to_csv([{"source": source, "text": "-1+1"}]))
    assert lines == ["source,text\n", f"{source},'-1+1\n"]
    assert unescape_formula(source) == source


@pytest.mark.parametrize("text", ["'-", "''-", "'-:12", "-:1+1", "--", "-\n", "-=1", "-:12\n"])
def test_texts_like_standard_input_are_escaped_and_restored(text):
    [row] = list(csv.reader(io.StringIO("".join([*to_csv([{"text": text}])][1:]), newline="")))
    assert row == [f"'{text}"]
    assert unescape_formula(row[0]) == text
