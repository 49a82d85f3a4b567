"""Texts of JSONL, Parquet, CSV and TSV files, with their other fields."""

import datetime
import gzip
import json
import sys

import pytest
from tests.text.corpus.files import jsonl, read, write, write_parquet

from thresher.errors import InputError
from thresher.text import read_texts


class TestJsonLines:
    def test_each_record_is_a_document(self):
        name = write(
            "a.jsonl",
            "\ufeff" + jsonl({"text": "Marie"}, {"text": ""}) + "\n" + jsonl({"text": "é"}),
        )
        assert read(name) == [("Marie", name, 1), ("", name, 2), ("é", name, 4)]

    def test_the_field_can_be_chosen(self):
        assert read(write("a.jsonl", jsonl({"body": "Marie"})), field="body")[0][0] == "Marie"

    def test_a_missing_text_is_an_empty_one_and_keeps_the_other_fields(self):
        lines = '{"text": null, "id": 1}\n{"text": NaN, "id": 2}\n'
        documents = list(read_texts(write("a.jsonl", lines)))
        assert [(each.text, each.fields) for each in documents] == [
            ("", {"id": 1}),
            ("", {"id": 2}),
        ]

    def test_bad_lines_are_reported_and_the_rest_read(self, problems):
        lines = [b'{"text": "ok"}', b"{oops", b"[1]", b'{"id": 1, "body": "x"}', b'{"text": 3}',
                 b'{"text": "\xff"}', b"[" * 200_000, b"{}", b'{"text": "ok too"}']  # fmt: skip
        write("a.jsonl", b"\n".join(lines))
        assert [number for _, _, number in read("a.jsonl", on_problem=problems.append)] == [1, 9]
        assert problems == [
            "a.jsonl line 2: not JSON in UTF-8",
            "a.jsonl line 3: not a JSON object",
            "a.jsonl line 4: no field 'text'; it has id, body",
            "a.jsonl line 5: field 'text' is not a string",
            "a.jsonl line 6: not JSON in UTF-8",
            "a.jsonl line 7: not JSON in UTF-8",
            "a.jsonl line 8: no field 'text'; it has none",
        ]

    def test_a_file_with_no_usable_line_is_refused(self, problems):
        with pytest.raises(InputError, match=r"no text in a.jsonl"):
            read(write("a.jsonl", jsonl({"body": "x"})), on_problem=problems.append)
        assert len(problems) == 1


class TestParquet:
    def test_each_row_is_a_document(self, problems):
        name = write_parquet("a.parquet", {"text": ["Marie", None, "left", ""], "id": [1, 2, 3, 4]})
        rows = read(name, on_problem=problems.append)
        assert rows == [("Marie", name, 1), ("", name, 2), ("left", name, 3), ("", name, 4)]
        assert problems == []

    def test_a_column_of_numbers_is_reported_except_for_missing_values(self, problems):
        name = write_parquet("a.parquet", {"text": [1.5, float("nan"), None]})
        assert read(name, on_problem=problems.append) == [("", name, 2), ("", name, 3)]
        assert problems == ["a.parquet row 1: field 'text' is not a string"]

    def test_a_missing_column_is_refused_with_the_existing_ones(self):
        name = write_parquet("a.parquet", {"body": ["x"], "id": [1]})
        with pytest.raises(InputError, match=r"a.parquet has no column 'text'; it has body, id"):
            read(name)

    def test_a_damaged_file_is_refused(self):
        pytest.importorskip("pyarrow")
        with pytest.raises(InputError, match=r"a.parquet is not a readable Parquet file"):
            read(write("a.parquet", b"PAR1 no PAR1"))

    def test_standard_input_is_refused(self):
        with pytest.raises(InputError, match="cannot be read from standard input"):
            read("-", format="parquet")

    def test_without_pyarrow_the_error_names_the_pip_command(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(InputError, match=r"pip install '\.\[parquet\]'"):
            read(write("a.parquet", b"PAR1"))


TABLE = "id\ttext\n1\tMarie left.\n2\tSo did Pierre.\n"


class TestTables:
    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    def test_each_row_is_a_document(self, line_end):
        rows = ["Marie left.", "So did Pierre."]
        for name, separator in {"a.tsv": "\t", "a.csv": ","}.items():
            table = TABLE.replace("\t", separator).replace("\n", line_end)
            assert read(write(name, table)) == [(rows[0], name, 2), (rows[1], name, 3)]

    def test_cells_may_be_quoted_and_have_several_lines(self):
        name = write("a.csv", 'text,id\n"Marie, ""M"",\n\nleft",1\nSo,2\n')
        assert read(name) == [('Marie, "M",\n\nleft', name, 2), ("So", name, 5)]
        name = write("a.tsv", 'text\tid\n"Marie\n\nleft"\t1\nSo\t2\n')
        assert read(name) == [("Marie\n\nleft", name, 2), ("So", name, 5)]

    def test_the_column_can_be_chosen(self):
        assert read(write("a.csv", "id,body\n1,Marie\n"), field="body") == [("Marie", "a.csv", 2)]
        assert read(write("a.tsv", "id\tbody\n1\tMarie\n"), field="body")[0][0] == "Marie"

    @pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
    def test_a_missing_column_is_refused_once_with_the_existing_ones(self, name, problems):
        separator = "," if name == "a.csv" else "\t"
        write(name, "id,body\n1,x\n2,y\n".replace(",", separator))
        with pytest.raises(InputError, match=rf"{name} has no column 'text'; it has id, body$"):
            read(name, format=name[2:], on_problem=problems.append)
        assert problems == []

    def test_bad_rows_are_reported_and_the_rest_read(self, problems):
        write("a.csv", b"id,text\n1,Marie\n2\n3,\xff\n4,left\n")
        assert [text for text, *_ in read("a.csv", on_problem=problems.append)] == ["Marie", "left"]
        assert problems == [
            "a.csv line 3: 1 cell, but the header has 2",
            "a.csv line 4: not UTF-8",
        ]

    def test_a_table_without_rows_has_no_text(self):
        for name in ("a.csv", "a.tsv"):
            with pytest.raises(InputError, match=f"no text in {name}$"):
                read(write(name, "text\n"))

    def test_gzip_is_decompressed_and_a_long_table_is_read_to_its_end(self):
        table = "id\ttext\n" + "".join(f"{i}\tMarie left.\n" for i in range(20_000))
        assert len(read(write("a.tsv.gz", gzip.compress(table.encode())))) == 20_000


class TestOtherFields:
    def fields(self, name, **options):
        return [document.fields for document in read_texts(name, **options)]

    def test_records_and_tables_keep_them(self):
        others = {"id": "7", "date": "2024-05-01"}
        row = {"id": "7", "text": "Marie", "date": "2024-05-01"}
        for separator, name in ((",", "a.csv"), ("\t", "a.tsv")):
            write(name, f"{separator.join(row)}\n{separator.join(row.values())}\n")
            assert self.fields(name) == [others]
        assert self.fields(write("a.jsonl", jsonl(row))) == [others]
        task = [{"id": 3, "data": {"text": "Marie", "lang": "fr"}}]
        name = write("a.json", json.dumps(task))
        assert self.fields(name, format="label-studio") == [{"id": 3, "lang": "fr"}]

    def test_the_text_is_not_one_of_them_whatever_its_name(self):
        name = write("a.jsonl", jsonl({"body": "Marie", "text": "x"}))
        assert self.fields(name, field="body") == [{"text": "x"}]

    def test_parquet_keeps_them_with_their_types(self):
        day = datetime.date(2024, 5, 1)
        name = write_parquet("a.parquet", {"text": ["Marie"], "id": [7], "day": [day]})
        assert self.fields(name) == [{"id": 7, "day": day}]

    def test_comments_of_conll_sentences_are_fields(self):
        write("a.conll", "# sent_id = 3\n# a remark\nMarie\tO\n\n# lang = fr\nLeft\tO\n")
        assert self.fields("a.conll") == [{"sent_id": "3"}, {"lang": "fr"}]

    def test_a_deeply_nested_record_is_refused_because_it_could_not_be_written(self, problems):
        deep = '{"text": "Marie", "x": ' + "[" * 150 + "]" * 150 + "}\n"
        strings = json.dumps({"text": "[{" * 300, "x": '"[' * 300}) + "\n"
        write("a.jsonl", deep + strings)
        assert len(read("a.jsonl", on_problem=problems.append)) == 1
        assert problems == ["a.jsonl line 1: nested too deeply"]
