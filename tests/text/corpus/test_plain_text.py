"""Texts of plain files: blocks and encodings."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.corpus.files import read, write

from thresher.errors import InputError
from thresher.text import read_texts
from thresher.text.text_blocks import BLOCK_BYTES, read_text_blocks


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
