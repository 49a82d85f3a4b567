"""Kinds on the command line: in all formats, and as a filter."""

import csv
import json

import pyarrow.parquet
import pytest
from tests.typed_finder import TypedFinder

from thresher.bulk.finder_choice import FinderChoice

TEXT = "Magda met Elias in Oslo and the Havfruen.\n"


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.setattr(FinderChoice, "load", lambda self: TypedFinder())
    path = tmp_path / "notes.txt"
    path.write_text(TEXT)
    return str(path)


def labels_of(out, output_format):
    if output_format in ("conll", "iob2"):
        rows = [line.split("\t") for line in out.splitlines() if line]
        return [row[1][2:] for row in rows if row[1].startswith("B-")]
    [record] = [json.loads(out)] if output_format != "label-studio" else json.loads(out)
    if output_format == "label-studio":
        regions = record["predictions"][0]["result"]
        return [region["value"]["labels"][0] for region in regions]
    if output_format == "doccano":
        return [label for _, _, label in record["label"]]
    key = "label" if output_format == "prodigy" else "kind"
    return [span.get(key, "ENT") for span in record["spans"]]


@pytest.mark.parametrize(
    "output_format", ["jsonl", "conll", "iob2", "prodigy", "doccano", "label-studio"]
)
def test_every_format_has_kinds(run, notes, output_format):
    shown = run("find", notes, "--to", output_format)
    assert labels_of(shown.out, output_format) == ["person", "person", "place", "ENT"]
    shown = run("find", notes, "--to", output_format, "--only", "place, person")
    assert labels_of(shown.out, output_format) == ["person", "person", "place"]


def test_jsonl_has_the_score_of_a_kind_and_nothing_for_no_kind(run, notes):
    spans = json.loads(run("find", notes, "--to", "jsonl").out)["spans"]
    assert spans[0]["kind_score"] == 0.75
    assert list(spans[3]) == ["start", "end", "text", "score"]


@pytest.mark.parametrize("output_format", ["jsonl", "conll"])
def test_an_unknown_kind_is_one_line(run, notes, output_format):
    shown = run("find", notes, "--to", output_format, "--only", "plce")
    assert shown.status == 1
    assert shown.error_line == (
        "unknown kind 'plce' in --only; choose from person, place; did you mean place?"
    )
    assert shown.out == ""


def test_an_empty_kind_is_mistyped(run, notes):
    assert run("find", notes, "--only", "person,").status == 2


@pytest.fixture
def records(tmp_path, notes):
    path = tmp_path / "in.csv"
    path.write_text('id,body,score\n7,"Magda met Elias, she said.",9\n8,nobody,1\n9,In Oslo.,2\n')
    return str(path)


def rows_of(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_a_table_has_a_row_for_each_entity_and_each_record_without_one(
    run, records, tmp_path, name
):
    shown = run("find", records, "--field", "body", "-o", tmp_path / name)
    assert (shown.status, shown.err) == (0, "")
    rows = rows_of(tmp_path / name)
    nothing = None if name == "out.parquet" else ""
    assert [(row["id"], row["text"], row["kind"]) for row in rows] == [
        ("7", "Magda", "person"),
        ("7", "Elias", "person"),
        ("8", nothing, nothing),
        ("9", "Oslo", "place"),
    ]
    columns = "source line offset id input_score start end text kind score kind_score"
    assert list(rows[0]) == columns.split()
    assert [str(row["line"]) for row in rows] == ["2", "2", "3", "4"]
    assert [float(row["score"]) > 0.5 for row in rows if row["text"]] == [True] * 3


@pytest.mark.parametrize(("kinds", "shown"), [("", "''"), ("kinds.yaml", "kinds.yaml")])
def test_a_missing_file_of_kinds_is_reported(run, records, kinds, shown):
    result = run("find", records, "--field", "body", "--kinds", kinds)
    assert result.status == 1
    assert result.error_line.startswith(f"there is no file of kinds {shown}; give a file, or one")
