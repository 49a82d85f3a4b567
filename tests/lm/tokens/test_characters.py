import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.tokens import text_range
from thresher.lm.tokens.factory import learn_tokenizer

TEXT = "The cat — née Bello —\n\n  ሰላም ለዓለም 😀\tsat.\r\n"


@given(text=st.text(st.sampled_from(sorted(set(TEXT)))))
def test_text_of_known_characters_is_restored(text):
    tokenizer = learn_tokenizer("characters", TEXT)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer.encode(text)) == len(text)


@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_an_error_shows_an_unknown_character_and_its_line(piece, monkeypatch):
    monkeypatch.setattr(text_range, "PIECE_CHARACTERS", piece)
    tokenizer = learn_tokenizer("characters", "abc\n")
    with pytest.raises(InputError, match=r"'é' \(line 3\) does not occur in the training text"):
        tokenizer.encode("abc\nabc\nabé")
    with pytest.raises(InputError, match="'\\\\t'"):  # smaller than the first code point
        tokenizer.encode("\t")
