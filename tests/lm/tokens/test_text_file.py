import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.tokens import text_file
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.training.splits import split_text

TEXTS = st.text(st.sampled_from("ab \né€😀"), max_size=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("texts")


@given(text=TEXTS, start=st.integers(0, 70), stop=st.integers(0, 70), block=st.integers(4, 20))
def test_a_file_behaves_like_the_string_in_it(folder, text, start, stop, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_BLOCK", block)
        file = TextFile.write(folder / "text", [text[:7], text[7:]])
        assert len(file) == len(text)
        assert file[start:stop] == text[start:stop]
        assert file.find("\n", start, stop) == text.find("\n", start, stop)
        assert file.count("\n", start, max(start, stop)) == text.count(
            "\n", start, max(start, stop)
        )
        part = TextRange(file, min(start, len(text)), len(text))
        assert "".join(part.pieces()) == str(part) == text[start:]


def test_splits_of_a_file_are_those_of_the_string(folder):
    text = "".join(f"line {number}: café\n" for number in range(500))
    file = TextFile.write(folder / "text", [text])
    of_text, of_file = split_text(text), split_text(file)
    for name in ("train", "validation", "test"):
        assert str(getattr(of_file, name)) == str(getattr(of_text, name))


def test_long_lines_are_cut_at_spaces(folder, monkeypatch):
    monkeypatch.setattr("thresher.lm.tokens.text_range.PIECE_CHARACTERS", 10)
    monkeypatch.setattr("thresher.lm.tokens.text_range._MAX_LINE", 20)
    text = "abcd efgh " * 30
    for source in (text, TextFile.write(folder / "text", [text])):
        pieces = list(TextRange.of(source).pieces())
        assert "".join(pieces) == text
        assert all(len(piece) <= 50 for piece in pieces)
        assert all(piece.startswith(" ") for piece in pieces[1:])
        some = list(TextRange.of(source).pieces(limit=100))
        assert 0 < sum(map(len, some)) <= 150
        assert set(some) <= set(pieces)


def test_surrogates_are_replaced_and_other_bytes_refused(folder):
    assert TextFile.write(folder / "text", ["a\ud800b"])[:] == "a?b"
    (folder / "binary").write_bytes(b"ab\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        TextFile(folder / "binary")[:]
