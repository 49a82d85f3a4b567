"""Texts are read from files of all formats, with correct locations and clear errors."""

import datetime
import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.text import Document, Sentence, read_texts
from thresher.text.sources import is_text_argument
from thresher.text.text_blocks import BLOCK_BYTES, read_text_blocks


@pytest.fixture
def problems():
    return []


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def read(*sources, **options):
    return [(d.text, d.source, d.number) for d in read_texts(sources, **options)]


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def write_parquet(name, columns):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), name, row_group_size=2)
    return name


class TestPlainText:
    def test_a_short_file_is_one_document(self):
        assert read(write("a.txt", "Marie left.\n\nSo.\n")) == [
            ("Marie left.\n\nSo.\n", "a.txt", 1)
        ]

    def test_an_unknown_name_is_plain_text(self):
        assert read(write("README", "Marie")) == [("Marie", "README", 1)]

    def test_a_byte_order_mark_is_removed_and_line_ends_are_kept(self):
        assert read(write("a.txt", "\ufeffMarie\r\nleft\r")) == [("Marie\r\nleft\r", "a.txt", 1)]

    def test_a_long_file_is_read_in_blocks_with_correct_offsets_and_lines(self):
        text = "".join(f"Paragraph {i} of é words.\n\n" for i in range(40_000))
        documents = list(read_texts(write("long.txt", text)))
        assert len(documents) > 2
        assert max(len(d.text.encode()) for d in documents) <= 2 * BLOCK_BYTES
        for d in documents:
            assert text[d.offset : d.offset + len(d.text)] == d.text
            assert text[: d.offset].count("\n") + 1 == d.number
            assert d.text.endswith("\n\n")

    def test_a_bad_line_is_reported_and_the_rest_read(self, problems):
        write("a.txt", b"good\nb\xe9d and more words\ngood\n")
        assert (
            read("a.txt", on_problem=problems.append)[0][0]
            == "good\nb\ufffdd and more words\ngood\n"
        )
        assert problems == ["a.txt line 2: not valid UTF-8; invalid bytes are read as U+FFFD"]

    def test_a_bad_line_raises_without_on_problem(self):
        with pytest.raises(InputError, match=r"a.txt line 1: not valid UTF-8"):
            read(write("a.txt", b"d\xe9j\xe0 " + b"and more words " * 9))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"\x7fELF\x00\x01text", r"a.txt is not text: it has NUL bytes"),
            ("Marie".encode("utf-16"), r"a.txt is UTF-16 text; convert it to UTF-8"),
            (bytes(range(128, 256)) * 9, r"a.txt is not UTF-8 text"),
            (b"", r"no text in a.txt$"),
            (b" \n\n\t", r"no text in a.txt$"),
            (b"\xef\xbb\xbf", r"no text in a.txt$"),
        ],
    )
    def test_a_binary_or_empty_file_is_refused(self, content, message, problems):
        with pytest.raises(InputError, match=message):
            read(write("a.txt", content), on_problem=problems.append)


@given(st.text(), st.integers(4, 40))
def test_blocks_are_the_text_in_pieces_of_bounded_size(text, size):
    text = text.replace("\x00", "").removeprefix("\ufeff")
    raw = text.encode(errors="replace")
    text = raw.decode()
    if text.count("\ufffd") > 0.1 * min(len(raw), size):
        return
    blocks = list(read_text_blocks(io.BytesIO(raw), name="x", on_problem=pytest.fail, size=size))
    assert "".join(block for block, _ in blocks) == text
    assert all(0 < len(block.encode()) <= 2 * size for block, _ in blocks)
    done = 0
    for block, line in blocks:
        assert line == text[:done].count("\n") + 1
        done += len(block)


class TestJsonLines:
    def test_each_record_is_a_document(self):
        name = write(
            "a.jsonl",
            "\ufeff" + jsonl({"text": "Marie"}, {"text": ""}) + "\n" + jsonl({"text": "é"}),
        )
        assert read(name) == [("Marie", name, 1), ("", name, 2), ("é", name, 4)]

    def test_the_field_can_be_chosen(self):
        assert read(write("a.jsonl", jsonl({"body": "Marie"})), field="body")[0][0] == "Marie"

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
        assert rows == [("Marie", name, 1), ("left", name, 3), ("", name, 4)]
        assert problems == ["a.parquet row 2: field 'text' is not a string"]

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


class TestConll:
    def test_each_sentence_is_a_document_with_its_words(self):
        write("a.conll", "# one\nMarie\tB-PER\nleft\tO\n\nN. Y.\tO\n")
        first, second = read_texts("a.conll")
        assert (first.text, first.number) == ("Marie left", 2)
        assert first.segmented() == (Sentence.from_words(["Marie", "left"]),)
        assert [word.text for word in second.segmented()[0].words] == ["N. Y."]

    def test_the_format_can_be_given(self):
        assert read(write("a.txt", "Marie O\nleft O\n"), format="conll") == [
            ("Marie left", "a.txt", 1)
        ]


TABLE = "id\ttext\n1\tMarie left.\n2\tSo did Pierre.\n"
TAGGED = "Marie\tB-PER\nleft\tO\n\nSo\tO\ndid\tO\nPierre\tB-PER\n"


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
            "a.csv line 3: 1 cells, but the header has 2",
            "a.csv line 4: not UTF-8",
        ]

    def test_a_table_without_rows_has_no_text(self):
        for name in ("a.csv", "a.tsv"):
            with pytest.raises(InputError, match=f"no text in {name}$"):
                read(write(name, "text\n"))

    def test_gzip_is_decompressed_and_a_long_table_is_read_to_its_end(self):
        table = "id\ttext\n" + "".join(f"{i}\tMarie left.\n" for i in range(20_000))
        assert len(read(write("a.tsv.gz", gzip.compress(table.encode())))) == 20_000


class TestTsvThatMayBeConll:
    @pytest.mark.parametrize(
        "content",
        [
            TAGGED,
            TAGGED.replace("\n", "\r"),
            "# one\n" + TAGGED,
            TAGGED.replace("Marie", '"'),  # no table: a cell that never ends
            TAGGED.partition("\n\n")[0],
            "word\ttag\n\n" + "\n".join([TAGGED] * 4),
            "1\tMarie\tX\n2\tleft\tX\n\n1\tSo\tX\n",
            "Marie\nleft\n\nSo\n",
        ],
        ids=lambda content: repr(content)[:30],
    )
    def test_tags_and_blank_lines_mean_conll(self, content, problems):
        expected = read(write("a.conll", content), on_problem=problems.append)
        found = read(write("a.tsv", content), on_problem=problems.append)
        assert [(text, line) for text, _, line in found] == [
            (text, line) for text, _, line in expected
        ]

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("id\tbody\n1\tMarie\n", "its first row has no column 'text', and no column has tags"),
            ("Marie\tNNP\nleft\tVBD\n\nSo\tRB\n", "its first row has no column 'text'"),
            ("Marie\nleft\n", "its first row has no column 'text'"),
            ("1\tMarie left.\n2\tSo did I.\n", "its first row has no column 'text'"),
            ("id\tsize\n" + "1\tS\n2\tL\n" * 20, "its first row has no column 'text'"),
            ("text\ttag\n" + "Marie\tO\n" * 20, "it has a column 'text', but also tags or blank"),
            ("text\tO\n" + "Marie\tO\n" * 20, "it has a column 'text', but also tags or blank"),
            ("text\tid\nMarie\t1\n\nleft\t2\n", "it has a column 'text', but also tags or blank"),
        ],
    )
    def test_an_unclear_file_is_refused_with_both_possibilities(self, content, reason):
        write("a.tsv", content)
        with pytest.raises(InputError) as error:
            read("a.tsv")
        assert str(error.value).startswith(
            f"cannot tell whether a.tsv is a table or CoNLL: {reason}"
        )
        assert "`format=tsv`" in str(error.value)
        assert str(error.value).endswith("`format=conll`")

    def test_the_format_decides_if_it_is_given(self):
        write("a.tsv", "text\ttag\n" + "Marie\tO\n" * 20)
        assert len(read("a.tsv", format="tsv")) == 20
        write("a.tsv", "Marie\nleft\n")
        assert read("a.tsv", format="conll") == [("Marie left", "a.tsv", 1)]

    def test_an_empty_file_has_no_sentences(self):
        with pytest.raises(InputError, match=r"a.tsv has no sentences"):
            read(write("a.tsv", ""))


class TestSources:
    def test_a_folder_is_searched_with_its_subfolders(self):
        for name in (
            "c/b.txt",
            "c/a.jsonl",
            "c/d/e.md",
            "c/x.png",
            "c/.hidden.txt",
            "c/.git/f.txt",
        ):
            write(name, jsonl({"text": "x"}))
        assert [Path(d.source).as_posix() for d in read_texts("c")] == [
            "c/a.jsonl",
            "c/b.txt",
            "c/d/e.md",
        ]

    def test_files_of_a_folder_that_are_skipped_are_reported(self, problems):
        for name in ("c/a.txt", "c/b.xls", "c/d/e.XLS", "c/f.log", "c/.g.log", "c/LICENSE"):
            write(name, "x")
        assert len(read("c", on_skipped=problems.append)) == 1
        assert problems == [
            "skipped 4 files of no known format in c: 2 .xls, 1 without a suffix, 1 .log"
        ]
        assert len(read("c/a.txt", "c/LICENSE", on_skipped=pytest.fail)) == 2

    def test_patterns_are_expanded_in_order(self, folder):
        for name in ("c/b.txt", "c/a.txt", "c/d/e.txt"):
            write(name, name)
        assert [text for text, _, _ in read("c/*.txt")] == ["c/a.txt", "c/b.txt"]
        assert [text for text, _, _ in read(f"{folder}/**/e.txt")] == ["c/d/e.txt"]

    def test_a_file_given_twice_is_read_once_and_names_may_have_brackets(self):
        assert len(read(write("a[1].txt", "x"), "a[1].txt")) == 1

    def test_a_single_name_or_path_can_be_given(self):
        write("a.txt", "x")
        assert len(list(read_texts("a.txt"))) == len(list(read_texts(Path("a.txt")))) == 1

    @pytest.mark.parametrize("form", ["text", "jsonl"])
    def test_a_dash_is_standard_input(self, form, monkeypatch):
        content = b"Marie" if form == "text" else b'{"text": "Marie"}'
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert read("-", format=form) == [("Marie", "-", 1)]

    def test_gzip_is_decompressed(self):
        assert read(write("a.txt.gz", gzip.compress(b"Marie")))[0][0] == "Marie"
        assert read(write("a.jsonl.gz", gzip.compress(b'{"text": "Marie"}')))[0][0] == "Marie"

    @pytest.mark.parametrize("broken", ["not gzip", "cut short"])
    def test_broken_gzip_is_refused(self, broken):
        content = b"no gzip" if broken == "not gzip" else gzip.compress(b"Marie" * 999)[:-20]
        with pytest.raises(InputError, match=r"cannot read a.txt.gz"):
            read(write("a.txt.gz", content))

    def test_missing_files_are_reported_before_anything_is_read(self):
        write("a.txt", "x")
        Path("empty").mkdir()
        for source, message in {
            "none.txt": r"no such file: none.txt",
            "*.jsonl": r"no file matches \*.jsonl",
            "empty": r"no text in folder empty: looked for .*\.txt",
            "": r"no such file: ''",  # and not all files of this folder
            "A text in place of its name. " * 20: r"cannot read 'A text .* of its .*': File name",
        }.items():
            with pytest.raises(InputError, match=message):
                read_texts(["a.txt", source])
        with pytest.raises(InputError, match="no files were given"):
            read_texts([])

    def test_a_common_suffix_does_not_make_names_similar(self):
        write("notes.txt", "x")
        with pytest.raises(InputError, match=r"no such file: note.txt; did you mean notes.txt\?$"):
            read_texts(["note.txt"])
        write("long.txt", "x")
        with pytest.raises(InputError, match=r"no such file: missing.txt$"):
            read_texts(["missing.txt"])

    def test_an_unknown_format_is_refused_with_the_choices(self):
        with pytest.raises(
            InputError,
            match="unknown `format` 'xml'; choose from text, jsonl, csv, tsv, "
            "parquet, conll, label-studio",
        ):
            read_texts("a.txt", format="xml")

    def test_one_bad_file_among_several_is_reported_and_the_rest_read(self, problems):
        names = [write("a.txt", b"\x00"), write("b.txt", "x"), write("c.txt", "")]
        assert read(*names, on_problem=problems.append) == [("x", "b.txt", 1)]
        assert problems == ["a.txt is not text: it has NUL bytes"]

    def test_several_files_without_any_text_are_refused(self, problems):
        with pytest.raises(InputError, match=r"no text in a.txt and 1 more"):
            read(write("a.txt", ""), write("b.txt", ""), on_problem=problems.append)


def test_a_document_without_sentences_is_segmented():
    assert len(Document("One. Two.", "a.txt").segmented()) == 2


def test_an_invalid_conll_line_is_reported_and_the_rest_is_read(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_bytes(b"Anna\tB-PER\nleft\tO\n\nBoris\tB-PER\nbad\n\xff\tO\ncame\tO\n")
    problems: list[str] = []
    documents = list(read_texts([str(path)], on_problem=problems.append))
    assert [each.text for each in documents] == ["Anna left", "Boris came"]
    assert [problem.split(": ")[0].rsplit(" ", 2)[1:] for problem in problems] == [
        ["line", "6"],
        ["line", "5"],
    ]
    with pytest.raises(InputError, match="line"):
        list(read_texts([str(path)]))


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


PAGE = "<!doctype html><title>T</title><nav>Menu</nav><p>Ren&eacute;e left Oslo.</p>"
MESSAGE = "MIME-Version: 1.0\nSubject: x\nFrom: a@b.c\n\nMarie left.\n"


class TestExtractedText:
    @pytest.mark.parametrize("name", ["a.html", "a.htm", "a.txt", "a", "a.php"])
    def test_a_page_is_recognised_by_name_or_content(self, name):
        (document,) = read_texts(write(name, PAGE))
        assert (document.text, document.fields) == ("Renée left Oslo.", {"title": "T"})

    @pytest.mark.parametrize("name", ["a.eml", "a.txt", "a"])
    def test_a_message_is_recognised_by_name_or_content(self, name):
        (document,) = read_texts(write(name, MESSAGE))
        assert (document.text, document.fields["subject"]) == ("Marie left.", "x")

    @pytest.mark.parametrize("name", ["a.mbox", "a"])
    def test_a_mailbox_is_recognised_by_name_or_content(self, name):
        message = f"From a@b.c Mon May  6 10:00:00 2024\n{MESSAGE}\n"
        assert read(write(name, message * 2)) == [
            ("Marie left.", name, 1), ("Marie left.", name, 8),
        ]  # fmt: skip

    @pytest.mark.parametrize("name", ["a.txt", "a.json", "a"])
    def test_records_are_recognised_by_content(self, name):
        rows = [{"text": "Marie", "id": 1}, {"text": "left", "id": 2}]
        for content in (jsonl(*rows), json.dumps(rows), json.dumps(rows, indent=2)):
            assert [d.fields["id"] for d in read_texts(write(name, content))] == [1, 2]
        assert read(write(name, json.dumps([{"data": {"text": "Marie"}}])))[0][0] == "Marie"

    def test_markdown_is_recognised_by_name(self):
        assert read(write("a.md", "# *Marie*\n\n```\nX\n```\n"))[0][0] == "Marie"
        assert read(write("a.txt", "# *Marie*\n"))[0][0] == "# *Marie*\n"

    def test_offsets_refer_to_the_extracted_text_which_is_read_in_blocks(self):
        page = "".join(f"<p>Paragraph {i} of &eacute; words.</p>" for i in range(20_000))
        documents = list(read_texts(write("a.html", page)))
        assert len(documents) > 1
        whole = "".join(d.text for d in documents)
        assert all(whole[d.offset :].startswith(d.text) for d in documents)
        assert whole.count("\n\n") == 19_999

    def test_a_folder_has_all_formats(self):
        write("in/a.html", PAGE)
        write("in/b.eml", MESSAGE)
        write("in/c.md", "*Marie*")
        write("in/d.txt", "Marie")
        notes = []
        assert len(read("in", on_skipped=notes.append)) == 4
        assert notes == []

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.log", "Marie", r"cannot tell the format of a.log: .log is not a known suffix"),
            ("a.xlsx", b"PK\x03\x04xl/workbook.xml", r"cannot read a.xlsx: it is a ZIP archive"),
            ("a.doc", b"\xd0\xcf\x11\xe0" * 9, r"it is a file of an old Office version"),
            ("a.txt", b"{\\rtf1 Marie}", r"it is RTF"),
        ],
    )
    def test_unknown_formats_are_refused(self, name, content, message):
        with pytest.raises(InputError, match=message):
            read(write(name, content))

    def test_any_name_is_read_if_the_format_is_given(self):
        assert read(write("a.log", "Marie"), format="text")[0][0] == "Marie"
        assert read(write("b.log", PAGE), format="text")[0][0] == PAGE


class TestGzip:
    def test_gzip_is_recognised_by_content(self):
        write("a.txt", gzip.compress(b"Marie"))
        assert read("a.txt")[0][0] == "Marie"

    def test_standard_input_may_be_gzip(self, monkeypatch):
        stdin = SimpleNamespace(buffer=io.BytesIO(gzip.compress(PAGE.encode())))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert read("-")[0][0] == "Renée left Oslo."

    def test_a_bomb_is_refused(self, monkeypatch):
        monkeypatch.setattr("thresher.text.gzip_streams.FREE_BYTES", 1 << 20)
        write("a.txt.gz", gzip.compress(b"a" * (1 << 23)))
        with pytest.raises(InputError, match=r"a.txt.gz expands to more than 200 times its size"):
            read("a.txt.gz")


class TestEncoding:
    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
    def test_text_and_records_are_decoded(self, encoding):
        for name, content in [
            ("a.txt", "Renée"),
            ("a.csv", "id,text\n1,Renée\n"),
            ("a.jsonl", '{"text": "Renée"}\n'),
            ("a.tsv", "id\ttext\n1\tRenée\n"),
            ("a.conll", "Renée\tO\n"),
            ("a.html", "<p>Renée"),
            ("a.md", "*Renée*"),
        ]:
            write(name, content.encode(encoding))
            assert read(name, encoding=encoding)[0][0] == "Renée"

    @pytest.mark.parametrize("encoding", ["nonsense", "zip", "punycode", "", "a\0"])
    def test_an_unknown_encoding_is_refused(self, encoding):
        with pytest.raises(InputError, match="unknown `encoding`"):
            read(write("a.txt", "Marie"), encoding=encoding)

    def test_wrong_bytes_are_refused(self):
        with pytest.raises(InputError, match=r"a.txt is not ascii text: .* position 3"):
            read(write("a.txt", b"caf\xe9"), encoding="ascii")


@pytest.mark.parametrize(
    ("argument", "is_text"),
    [
        ("Marie Curie moved to Paris.", True),
        ("Who is Marie Curie?", True),
        ("He said [sic] and/or left * there", True),
        ("Marie " * 5000, True),
        ("Marie\0 Curie", True),
        ("马克龙在巴黎表示，法国将与德国合作。", True),
        ("東京です。", True),
        ("笔记，一.txt", False),
        ("笔记.txt", False),
        ("Paris", False),
        ("notes.txt", False),
        ("my notes.txt", False),
        ("my notes/*.txt", False),
        ("/tmp/my notes", False),
        ("./my notes", False),
        ("folder/my notes", False),
        ("an existing name", False),
        ("-", False),
        ("", False),
        (" ", False),
    ],
)
def test_an_argument_is_a_text_if_it_has_several_words_and_is_not_like_a_path(argument, is_text):
    write("folder/x", "")
    write("an existing name", "")
    assert is_text_argument(argument) == is_text
