"""Files of real life: few false entities on pages and Markdown, and every row of a table is kept.

In the fixtures, entities are marked with ⟦ and ⟧, which are removed before they are read.
"""

import csv
import json
import re
from functools import reduce

import pytest
from benchmarks.files.marked_texts import FOLDER, KINDS, Counts, count, marked_texts

from thresher import EntityFinder, read_texts
from thresher.cli import main

# At least this part of the names is found exactly; code has few names.
FOUND = {"news": 0.7, "web page": 0.85, "Markdown": 0.85, "table": 0.7, "e-mail": 0.7}


@pytest.fixture(scope="module")
def built_in(load_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.entities.loading.load_encoder", load_once)
        return EntityFinder.default()


def counted(finder, kind):
    texts = [text for name in KINDS[kind] for text in marked_texts(name)]
    return reduce(Counts.__add__, (count(finder, text) for text in texts), Counts())


@pytest.mark.parametrize("kind", KINDS)
def test_most_names_of_each_kind_of_text_are_found(built_in, kind):
    counts = counted(built_in, kind)
    assert counts.exact + counts.missed >= (10 if kind == "source code" else 40)
    assert counts.exact > FOUND.get(kind, 0.65) * (counts.exact + counts.missed)


@pytest.mark.parametrize("kind", ["web page", "Markdown"])
def test_fewer_than_a_tenth_of_the_names_are_false(built_in, kind):
    assert counted(built_in, kind).false_share < 0.1


def test_a_page_read_as_plain_text_would_have_many_false_entities(built_in, tmp_path):
    """The control: without extraction, more than a fifth of the names are menus and markup."""
    plain = re.sub("[⟦⟧]", "", (FOLDER / "page.html").read_text(encoding="utf-8"))
    (tmp_path / "page.html").write_text(plain, encoding="utf-8")
    [text] = marked_texts("page.html")
    names = {text.text[start:end] for start, end in text.gold}
    (page,) = read_texts(tmp_path / "page.html", format="text")
    found = [span.text for span in built_in.find(page.text)]
    assert sum(name not in names for name in found) > len(found) / 5


def test_every_row_of_a_table_and_its_id_are_kept(tmp_path, capsys):
    table = tmp_path / "table.csv"
    marked = (FOLDER / "table.csv").read_text(encoding="utf-8")
    table.write_text(re.sub("[⟦⟧]", "", marked), encoding="utf-8")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    options = ["--column", "body", "--model", "fast-english", "-q"]
    assert main(["find", str(table), *options, "--to", "jsonl"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 22
    assert [each["id"] for each in records] == [row["id"] for row in rows]
    assert [each["text"] for each in records] == [row["body"] for row in rows]
    assert [each["received"] for each in records] == [row["received"] for row in rows]
    assert main(["find", str(table), *options, "-o", str(tmp_path / "out.csv")]) == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert list(dict.fromkeys(row["id"] for row in written)) == [row["id"] for row in rows]
    found = {(row["id"], row["text"]) for row in written if row["text"]}
    assert found == {(each["id"], span["text"]) for each in records for span in each["spans"]}
