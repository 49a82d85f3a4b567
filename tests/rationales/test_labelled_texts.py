"""Labelled texts are read from several formats; invalid records are reported."""

import csv
import gzip
import io
import json
import sys

import pytest

from thresher.errors import InputError
from thresher.rationales.labelled_texts import Fields, read_labelled

LABELLED = Fields(label="label")
GOLD = Fields(label="label", gold="rationale")


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, fields=LABELLED, **given):
    """Return the texts and the reported problems."""
    problems = []
    return list(read_labelled(path, fields=fields, on_problem=problems.append, **given)), problems


def pairs(texts):
    return [(each.text, each.label) for each in texts]


def test_the_same_texts_come_from_every_format(tmp_path):
    expected = [("Cold soup, again.", "bad"), ('A "fine"\nplace', "good")]
    records = "".join(json.dumps({"text": t, "label": y, "id": 1}) + "\n" for t, y in expected)
    table = 'id,text,label\n1,"Cold soup, again.",bad\n2,"A ""fine""\nplace",good\n'
    tabs = 'text\tlabel\nCold soup, again.\tbad\n"A ""fine""\nplace"\tgood\n'
    assert pairs(read(written(tmp_path / "a.jsonl", records))[0]) == expected
    assert pairs(read(written(tmp_path / "a.csv", table))[0]) == expected
    assert pairs(read(written(tmp_path / "a.tsv", tabs))[0]) == expected
    packed = written(tmp_path / "a.csv.gz", gzip.compress(table.encode()))
    assert pairs(read(packed)[0]) == expected
    marked = written(tmp_path / "b.csv", b"\xef\xbb\xbf" + table.encode())
    assert pairs(read(marked)[0]) == expected


def test_lines_are_texts_without_labels(tmp_path):
    path = written(tmp_path / "a.txt", "Cold soup.\n\nFine place.\r\n")
    texts, problems = read(path, Fields())
    assert [(each.text, each.number) for each in texts] == [("Cold soup.", 1), ("Fine place.", 3)]
    assert problems == []
    with pytest.raises(
        InputError, match=r"a\.txt has lines without labels; give jsonl, csv or tsv"
    ):
        read(path)


def test_standard_input_is_jsonl(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b'{"text": "Fine.", "label": "good"}\n'))
    monkeypatch.setattr(sys, "stdin", stream)
    assert pairs(read("-")[0]) == [("Fine.", "good")]


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ('"good"', "good"),
        ('" good "', "good"),
        ("5", "5"),
        ("5.0", "5"),
        ("4.5", "4.5"),
        ("true", "true"),
    ],
)
def test_a_label_may_be_a_word_or_a_number(tmp_path, given, label):
    path = written(tmp_path / "a.jsonl", f'{{"text": "Fine.", "label": {given}}}\n')
    assert pairs(read(path)[0]) == [("Fine.", label)]


BAD_RECORDS = {
    "not json": ('{"text": ', "not JSON in UTF-8"),
    "not utf-8": (b'{"text": "caf\xe9", "label": "good"}', "not JSON in UTF-8"),
    "a list": ('["text"]', "not a JSON object"),
    "no label": ('{"text": "Fine."}', "no field 'label'; it has text"),
    "null label": ('{"text": "Fine.", "label": null}', "the label is empty"),
    "blank label": ('{"text": "Fine.", "label": " "}', "field 'label' is neither"),
    "list label": ('{"text": "Fine.", "label": [1]}', "field 'label' is neither a string nor"),
    "number text": ('{"text": 3, "label": "good"}', "field 'text' is not a string"),
    "empty text": ('{"text": "", "label": "good"}', "the text is empty"),
    "blank text": ('{"text": " \\n ", "label": "good"}', "the text is empty"),
}


@pytest.mark.parametrize("kind", BAD_RECORDS)
def test_a_bad_record_is_reported_with_its_line_and_skipped(tmp_path, kind):
    line, reason = BAD_RECORDS[kind]
    line = line if isinstance(line, bytes) else line.encode()
    fine = b'{"text": "Fine.", "label": "good"}\n'
    path = written(tmp_path / "a.jsonl", fine + b"\n" + line + b"\n" + fine)
    texts, problems = read(path)
    assert [each.number for each in texts] == [1, 4]
    assert len(problems) == 1
    assert problems[0].startswith(f"{path} line 3: ")
    assert reason in problems[0]
    with pytest.raises(InputError, match=reason.replace("(", r"\(")):
        list(read_labelled(path, fields=LABELLED))


BAD_ROWS = {
    "few cells": (b"Fine.", "1 cell, but the header has 2"),
    "many cells": (b"Fine.,good,5", "3 cells, but the header has 2"),
    "not utf-8": (b"caf\xe9,good", "not UTF-8"),
    "empty text": (b",good", "the text is empty"),
    "empty label": (b"Fine.,", "the label is empty"),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_bad_row_of_a_table_is_reported_with_its_line(tmp_path, kind):
    row, reason = BAD_ROWS[kind]
    path = written(tmp_path / "a.csv", b'text,label\n"Two\nlines",good\n' + row + b"\nFine.,bad\n")
    texts, problems = read(path)
    assert pairs(texts) == [("Two\nlines", "good"), ("Fine.", "bad")]
    assert problems == [f"{path} line 4: {reason}"]


def test_a_cell_may_hold_a_long_text(tmp_path):
    limit = csv.field_size_limit()
    long = "So cold.\n" * 30_000
    path = written(tmp_path / "a.csv", f'text,label\n"{long}",bad\nFine.,good\n')
    texts, problems = read(path)
    assert (pairs(texts), problems) == ([(long, "bad"), ("Fine.", "good")], [])
    assert csv.field_size_limit() == limit


def test_a_quote_that_never_ends_is_reported(tmp_path):
    path = written(tmp_path / "a.csv", 'text,label\nFine.,good\n"never,ends\nfine,good\n')
    texts, problems = read(path)
    assert pairs(texts) == [("Fine.", "good")]
    assert len(problems) == 1
    assert f"{path} line 3: not a row of a table" in problems[0]


def test_two_columns_of_one_name_are_reported(tmp_path):
    path = written(tmp_path / "a.csv", "text,text,label\nSoup.,Fine.,good\n")
    problems = []
    with pytest.raises(InputError, match="no text in"):
        list(read_labelled([path], fields=LABELLED, on_problem=problems.append))
    assert problems == [f"{path} line 1: two columns are called 'text'"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_column_that_no_record_has_is_one_error(tmp_path, name):
    content = {
        "a.jsonl": '{"text": "Fine.", "stars": 5}\n' * 100,
        "a.csv": "text,stars\n" + "Fine.,5\n" * 100,
    }[name]
    path = written(tmp_path / name, content)
    with pytest.raises(InputError, match="has no field 'label'; it has text, stars"):
        read(path)
    with pytest.raises(InputError, match="has no field 'body'; it has text, stars"):
        read(path, Fields(text="body", label="stars"))


def test_records_without_a_field_are_reported_once_another_has_it(tmp_path):
    lines = ['{"text": "One."}', '{"text": "Two.", "label": "good"}', '{"text": "Three."}']
    texts, problems = read(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert pairs(texts) == [("Two.", "good")]
    assert [each.partition(": ")[0].rpartition(" ")[2] for each in problems] == ["1", "3"]


@pytest.mark.parametrize("before", ["", '{"text": "Two.", "label": "good"}\n'])
def test_without_on_problem_the_first_problem_is_raised(tmp_path, before):
    content = before + '{"text": "One."}\n{"text": "Two.", "label": "good"}\n'
    path = written(tmp_path / "a.jsonl", content)
    _, [problems] = read(path)
    with pytest.raises(InputError) as raised:
        list(read_labelled(path, fields=LABELLED))
    assert str(raised.value) == problems


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.csv", "text,label\n")])
def test_a_file_without_records_is_an_error(tmp_path, name, content):
    with pytest.raises(InputError, match="no text in"):
        read(written(tmp_path / name, content))


def test_formats_are_named_by_files_or_by_the_user(tmp_path):
    path = written(tmp_path / "reviews.dat", "text,label\nFine.,good\n")
    with pytest.raises(InputError, match=r"cannot tell the format of .*reviews\.dat by its name"):
        read(path)
    assert pairs(read(path, format="csv")[0]) == [("Fine.", "good")]
    with pytest.raises(
        InputError, match="unknown `format` 'xml'; choose from jsonl, csv, tsv, lines"
    ):
        read(path, format="xml")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.csv")


@pytest.mark.parametrize(
    "given", ["[[0, 4], [5, 9]]", '[{"start": 0, "end": 4}, {"start": 5, "end": 9, "score": 1}]']
)
def test_gold_rationales_are_pairs_or_spans(tmp_path, given):
    record = f'{{"text": "Cold soup.", "label": "bad", "rationale": {given}}}\n'
    (text,), problems = read(written(tmp_path / "a.jsonl", record), GOLD)
    assert (text.gold, problems) == (((0, 4), (5, 9)), [])
    cell = given.replace('"', '""')
    row = f'text,label,rationale\nCold soup.,bad,"{cell}"\n'
    (text,), problems = read(written(tmp_path / "a.csv", row), GOLD)
    assert (text.gold, problems) == (((0, 4), (5, 9)), [])


def test_no_gold_is_none_and_an_empty_one_is_empty(tmp_path):
    lines = [
        '{"text": "Fine.", "label": "good"}',
        '{"text": "Fine.", "label": "good", "rationale": null}',
        '{"text": "Fine.", "label": "good", "rationale": []}',
    ]
    texts, problems = read(written(tmp_path / "a.jsonl", "\n".join(lines)), GOLD)
    assert ([each.gold for each in texts], problems) == ([None, None, ()], [])


@pytest.mark.parametrize(
    "given",
    ["3", '"cold"', "[1, 2]", "[[1]]", '[{"start": 1}]', "[[0, 99]]", "[[4, 4]]", "[[0.5, 2]]"],
)
def test_an_invalid_gold_rationale_is_reported(tmp_path, given):
    fine = '{"text": "Fine.", "label": "good"}\n'
    bad = f'{{"text": "Cold soup.", "label": "bad", "rationale": {given}}}\n'
    texts, problems = read(written(tmp_path / "a.jsonl", fine + bad), GOLD)
    assert len(texts) == 1
    assert len(problems) == 1
    assert "line 2: field 'rationale'" in problems[0]
