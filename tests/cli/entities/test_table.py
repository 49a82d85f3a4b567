"""thresher entities: tables, graphs and plots of a corpus."""

import csv
import json

import networkx
import pyarrow.parquet
import pytest
from tests.typed_finder import TypedFinder

from thresher.bulk.finder_choice import FinderChoice

TEXTS = {
    "a.txt": "Jensen Huang met Magda in Oslo.\n\nIn the end Huang left OSLO with Magda.\n",
    "b.txt": "Huang was in Paris with Elias.\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(FinderChoice, "load", lambda self: TypedFinder())
    path = tmp_path / "corpus"
    path.mkdir()
    for name, text in TEXTS.items():
        (path / name).write_text(text)
    return path


def rows_of(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
    return [row | {"spellings": row["spellings"].split(" | ")} for row in rows]


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.jsonl", "e.parquet"])
def test_a_table_has_a_row_for_each_entity(run, folder, tmp_path, name):
    shown = run("entities", folder, "-o", tmp_path / name)
    assert (shown.status, shown.out) == (0, "")
    rows = rows_of(tmp_path / name)
    columns = "entity kind mentions documents first_mention spellings example score"
    assert list(rows[0]) == columns.split()
    table = {row["entity"]: row for row in rows}
    assert list(table) == ["Jensen Huang", "Magda", "Oslo", "Huang", "Paris", "Elias"]
    huang = table["Jensen Huang"]
    assert huang["kind"] == "person"
    assert (int(huang["mentions"]), int(huang["documents"])) == (2, 1)
    assert huang["spellings"] == ["Jensen Huang", "Huang"]
    assert huang["first_mention"] == f"{folder / 'a.txt'}:1"
    assert huang["example"] == "Jensen Huang met Magda in Oslo."
    assert 0.5 < float(huang["score"]) <= 1


def test_options_limit_and_split_the_table(run, folder, tmp_path):
    out = run("entities", folder, "--to", "jsonl", "--top", 2, "--only", "place").out
    assert [json.loads(line)["entity"] for line in out.splitlines()] == ["Oslo", "Paris"]
    out = run("entities", folder, "--to", "jsonl", "--no-group", "--only", "place").out
    assert {json.loads(line)["entity"] for line in out.splitlines()} == {"Oslo", "OSLO", "Paris"}


def test_a_terminal_shows_the_table_and_how_much_of_it(run, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("entities", folder, "--to", "terminal", "--top", 2).out.splitlines()
    assert lines[1].split() == "entity kind mentions documents score other spellings".split()
    assert lines[3].split()[:5] == ["Jensen", "Huang", "person", "2", "1"]
    assert lines[-1] == "2 of 6 entities"
    assert all(len(line) <= 80 for line in lines)


def test_graph_and_plot_are_written_beside_the_table(run, folder, tmp_path):
    graph, plot = tmp_path / "g.graphml", tmp_path / "p.svg"
    shown = run("entities", folder, "--to", "jsonl", "--graph", graph, "--plot", plot)
    assert shown.status == 0
    read = networkx.read_graphml(graph)
    labels = networkx.get_node_attributes(read, "label")
    edges = {frozenset((labels[a], labels[b])): w for a, b, w in read.edges(data="weight")}
    assert edges[frozenset(["Jensen Huang", "Magda"])] == 2
    assert edges[frozenset(["Huang", "Elias"])] == 1
    assert "Jensen Huang" in plot.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "plce"], "unknown kind 'plce' in --only; choose from person, place; did you"),
        (["-o", "e.xlsx"], "cannot tell the format of e.xlsx by its name (.jsonl, "),
        (["--to", "parquet"], "Parquet is not written to standard output; name a file with"),
        (["--plot", "p.gif"], "the file name of --plot must end in .svg, .png or .pdf"),
        (["--graph", "missing/g.graphml"], "cannot write"),
    ],
)
def test_wrong_options_are_one_line(run, folder, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    shown = run("entities", folder, *options)
    assert (shown.status, shown.out) == (1, "")
    assert shown.error_line.startswith(message)
