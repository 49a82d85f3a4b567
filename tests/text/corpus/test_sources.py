"""Files, folders, patterns, standard input, and texts on the command line."""

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.text.corpus.files import jsonl, read, write

from thresher.errors import InputError
from thresher.text import Document, read_texts
from thresher.text.sources import is_text_argument


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
        assert read(write("notes.gz", gzip.compress(b"Marie")))[0][0] == "Marie"
        with pytest.raises(InputError, match=r"\.log is not a known suffix"):
            read(write("a.log.gz", gzip.compress(b"Marie")))

    @pytest.mark.parametrize("broken", ["not gzip", "cut short"])
    def test_broken_gzip_is_refused(self, broken):
        content = b"no gzip" if broken == "not gzip" else gzip.compress(b"Marie" * 999)[:-20]
        with pytest.raises(InputError, match=r"cannot read a.txt.gz"):
            read(write("a.txt.gz", content))

    def test_missing_files_are_reported_before_anything_is_read(self):
        write("a.txt", "x")
        Path("empty").mkdir()
        Path("dangling.txt").symlink_to("gone.txt")
        for source, message in {
            "none.txt": r"no such file: none.txt",
            "*.jsonl": r"no file matches \*.jsonl",
            "empty": r"no text in folder empty: looked for .*\.txt",
            "dangling.txt": r"dangling.txt is a link to gone.txt, which does not exist$",
            "https://example.org/a.txt": r"is an address; only thresher find --engine ray",
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
        write(".archive.csv.lock", "")
        with pytest.raises(InputError, match=r"no such file: archive.csv$"):
            read_texts(["archive.csv"])
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
