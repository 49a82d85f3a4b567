"""Texts of web pages, messages, other documents and compressed files."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from tests.text.corpus.files import jsonl, read, write

from thresher.errors import InputError
from thresher.text import read_texts

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
        monkeypatch.setattr("thresher.text.streams.FREE_BYTES", 1 << 20)
        write("a.txt.gz", gzip.compress(b"a" * (1 << 23)))
        with pytest.raises(InputError, match=r"a.txt.gz expands to more than 200 times its size"):
            read("a.txt.gz")
