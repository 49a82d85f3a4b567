"""Every command that reads text accepts another character encoding than UTF-8."""

import json

import pytest

from thresher.bulk.block_rows import read_rows, require_splittable
from thresher.bulk.blocks import plan_blocks
from thresher.entities.evaluation import GoldTexts
from thresher.errors import InputError
from thresher.rationales.labelled_texts import Fields, read_labelled
from thresher.text import read_annotated

NAME = "Jürgen Müller"


def test_gold_files_are_read(tmp_path):
    conll = tmp_path / "gold.conll"
    conll.write_text("Jürgen\tB-PER\nMüller\tI-PER\ngeht\tO\n", encoding="latin-1")
    [sentence] = GoldTexts.read([str(conll)], encoding="latin-1").sentences
    assert list(sentence.words) == ["Jürgen", "Müller", "geht"]
    labelled = tmp_path / "labelled.jsonl"
    record = {"text": f"{NAME} geht.", "label": [[0, len(NAME), "PER"]]}
    labelled.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-16")
    [text] = read_annotated(labelled, format="doccano", encoding="utf-16")
    assert text.text == record["text"]
    with pytest.raises(InputError, match="unknown `encoding` 'no-such'"):
        GoldTexts.read([str(conll)], encoding="no-such")


def test_labelled_texts_are_read(tmp_path):
    table = tmp_path / "reviews.csv"
    table.write_text(f"text,label\n{NAME} war gut,1\n", encoding="cp1252")
    [text] = read_labelled(table, fields=Fields(label="label"), encoding="cp1252")
    assert (text.text, text.label) == (f"{NAME} war gut", "1")


def test_blocks_of_large_files_are_read(tmp_path):
    lines = [f"{NAME} {number}" for number in range(5)]
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="latin-1")
    [block] = plan_blocks([str(tmp_path / "a.txt")])
    assert read_rows(block, text_field="text", encoding="latin-1").texts == lines
    records = "".join(json.dumps({"text": line}, ensure_ascii=False) + "\n" for line in lines)
    (tmp_path / "b.jsonl").write_text(records, encoding="cp1252")
    [block] = plan_blocks([str(tmp_path / "b.jsonl")])
    assert read_rows(block, text_field="text", encoding="cp1252").texts == lines
    with pytest.raises(InputError, match="utf-16 cannot be split"):
        require_splittable("utf-16")
    with pytest.raises(InputError, match="is not ascii text"):
        read_rows(block, text_field="text", encoding="ascii")
