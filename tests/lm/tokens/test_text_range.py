import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.lm.tokens import text_range
from thresher.lm.tokens.text_range import TextRange


@given(
    text=st.text(st.sampled_from("ab\n")),
    start=st.integers(0, 10),
    stop=st.integers(0, 30),
    size=st.integers(1, 9),
)
def test_pieces_end_at_line_ends_and_together_are_the_range(text, start, stop, size):
    part = TextRange(text, min(start, len(text)), min(max(start, stop), len(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_range, "PIECE_CHARACTERS", size)
        pieces = list(part.pieces())
    assert "".join(pieces) == str(part) == text[part.start : part.stop]
    assert all(piece.endswith("\n") for piece in pieces[:-1])
    assert all(pieces)


@given(st.text(), st.integers(0, 5), st.integers(0, 20))
def test_blank_means_that_nothing_is_left_after_stripping(text, start, stop):
    part = TextRange(text, start, stop)
    assert part.is_blank() is not bool(str(part).strip())


def test_a_range_of_a_range_is_itself():
    part = TextRange("abc", 1, 2)
    assert TextRange.of(part) is part
    assert str(TextRange.of("abc")) == "abc"
