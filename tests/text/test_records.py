"""The same records are read from every format, with their locations."""

import io
import time

import pandas as pd
import pytest

from thresher.errors import InputError, raise_input_error
from thresher.text.choices import RecordFormat
from thresher.text.parquet import open_parquet, parquet_batches, parquet_records
from thresher.text.records import (
    json_records,
    jsonl_records,
    line_records,
    read_records,
    text_field,
    to_json_line,
)

VALUES = [{"text": "Cold soup.", "id": "1"}, {"text": 'A "fine"\nplace', "id": "2"}]
FILES = {
    RecordFormat.JSONL: "".join(map(to_json_line, VALUES)),
    RecordFormat.CSV: 'text,id\nCold soup.,1\n"A ""fine""\nplace",2\n',
    RecordFormat.TSV: 'text\tid\nCold soup.\t1\n"A ""fine""\nplace"\t2\n',
}


def stream(text):
    return io.BytesIO(text.encode())


@pytest.mark.parametrize("start", ["", "\r\n\n", "\ufeff"])
@pytest.mark.parametrize("header", ["text;id", '"text";"id"', '"text";id'])
def test_a_csv_table_may_have_semicolons(start, header):
    """Spreadsheet programs write them where a comma is the decimal sign; a cell may have commas."""
    table = f'{start}{header}\r\nCold, soup.;1,5\r\n"A ""fine"";\nplace";2\r\n'
    records = list(read_records(stream(table), "csv", name="a", on_problem=raise_input_error))
    values = [("Cold, soup.", "1,5"), ('A "fine";\nplace', "2")]
    assert [record.values for record in records] == [{"text": t, "id": i} for t, i in values]
    first = start.count("\n") + 2
    assert [record.number for record in records] == [first, first + 1]


@pytest.mark.parametrize(
    ("header", "columns"),
    [("text,a;b", ["text", "a;b"]), ('"text;id"', ["text;id"]), ("text", ["text"]), (";,", None)],
)
def test_a_csv_table_with_commas_or_one_column_is_read_as_such(header, columns):
    row = ",".join("x;y" for _ in columns or ["", ""])
    [record] = read_records(
        stream(f"{header}\n{row}"), "csv", name="a", on_problem=raise_input_error
    )
    assert list(record.values) == (columns or [";", ""])
    assert set(record.values.values()) == {"x;y"}


@pytest.mark.parametrize("record_format", FILES)
def test_every_format_gives_the_same_records(record_format):
    file = stream(FILES[record_format])
    records = list(read_records(file, record_format, name="a", on_problem=raise_input_error))
    assert [record.values for record in records] == VALUES
    assert [record.location for record in records] == [f"a line {r.number}" for r in records]
    assert not file.closed


def test_an_array_gives_the_same_records():
    array = "\n[" + ",".join(to_json_line(values) for values in VALUES) + "]"
    records = list(json_records(stream(array), name="a", on_problem=raise_input_error))
    assert [record.values for record in records] == VALUES
    assert [record.location for record in records] == ["a record 1", "a record 2"]


def test_lines_are_records_with_one_field():
    lines = stream("\ufeffone\n\ntwo\r\n")
    records = read_records(lines, "lines", name="a", on_problem=raise_input_error, field="body")
    assert [(record.values, record.number) for record in records] == [
        ({"body": "one"}, 1),
        ({"body": "two"}, 3),
    ]


def test_lines_may_be_numbered_by_byte_offset():
    lines = [(7, b'{"text": "a"}\n'), (21, b"{oops\n")]
    problems = []
    records = list(jsonl_records(lines, name="a", unit="byte", on_problem=problems.append))
    assert [record.location for record in records] == ["a byte 7"]
    assert problems == ["a byte 21: not JSON in UTF-8"]


@pytest.mark.parametrize(("replace", "texts"), [(True, ["caf\ufffd", "tea"]), (False, ["tea"])])
def test_an_invalid_line_is_reported_and_replaced_or_skipped(replace, texts):
    lines = enumerate([b"caf\xe9\n", b"tea\n"], 1)
    problems = []
    records = line_records(
        lines, field="text", name="a", on_problem=problems.append, replace_invalid=replace
    )
    assert [record.values["text"] for record in records] == texts
    assert [problem.partition(":")[0] for problem in problems] == ["a line 1"]


def test_a_missing_or_wrong_field_is_an_error():
    assert text_field({"text": "a"}, "text") == "a"
    with pytest.raises(InputError, match="no field 'body'; it has text, id"):
        text_field(VALUES[0], "body")
    for value in (3, 0.0, False, [], {}):
        with pytest.raises(InputError, match="field 'text' is not a string"):
            text_field({"text": value}, "text")


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_value_is_an_empty_text(value):
    assert text_field({"text": value}, "text") == ""


def test_lone_surrogates_are_written_as_escapes():
    assert to_json_line({"text": "é"}) == '{"text": "é"}\n'
    assert to_json_line({"text": "\ud83d"}) == '{"text": "\\ud83d"}\n'


def test_parquet_rows_are_records_and_can_be_sliced():
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415

    file = io.BytesIO()
    table = pa.table({"text": [str(i) for i in range(10)], "id": range(10)})
    parquet.write_table(table, file, row_group_size=3)
    with open_parquet(file, name="a") as opened:
        records = list(parquet_records(opened, "text", name="a"))
        assert [record.values["text"] for record in records] == table["text"].to_pylist()
        assert records[-1].location == "a row 10"
        batches = parquet_batches(opened, 2, 7)
        assert [value for batch in batches for value in batch["id"].to_pylist()] == [2, 3, 4, 5, 6]
        with pytest.raises(InputError, match="a has no column 'body'; it has text, id"):
            next(parquet_records(opened, "body", name="a"))


def test_a_table_of_many_columns_is_read_in_linear_time():
    header = ",".join(["text", *(f"c{number}" for number in range(30_000))])
    row = ",".join(["Anna left."] * 30_001)
    start = time.process_time()
    [record] = read_records(
        stream(f"{header}\n{row}"), "csv", name="a", on_problem=raise_input_error
    )
    assert time.process_time() - start < 2  # comparing every pair of names takes ten times as long
    assert record.values["c29999"] == "Anna left."
