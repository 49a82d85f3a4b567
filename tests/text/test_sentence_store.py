"""A store of sentences on disk returns the sentences that were written."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.text import indexed_sentences
from thresher.text.indexed_sentences import SentenceStore

WORDS = st.text(st.characters(exclude_categories=[]), max_size=4)
SENTENCES = st.lists(st.lists(WORDS, max_size=5), max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@given(SENTENCES, st.integers(1, 6))
def test_reading_returns_what_was_written(folder, sentences, kept):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexed_sentences, "_BUFFERED_WORDS", kept)
        stored = SentenceStore.write(folder, iter(sentences))
    for each in (stored, SentenceStore.open(folder)):
        assert list(each) == sentences
        assert len(each) == len(sentences)
        assert [each[i] for i in range(len(each))] == sentences
        assert [each[-1 - i] for i in range(len(each))] == sentences[::-1]
        assert each[1:9:2] == sentences[1:9:2]


@pytest.mark.parametrize("odd", ["\0", "\n", "\ud800", "\ud83d\ude00", "ÿ", ""])
def test_any_string_is_a_word(tmp_path, odd):
    for sentences in ([[odd]], [["a", odd, "b"], [odd]]):
        assert list(SentenceStore.write(tmp_path, sentences)) == sentences


def test_an_index_out_of_range_raises_index_error(tmp_path):
    stored = SentenceStore.write(tmp_path, [["a"], ["b"]])
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"there are 2 sentences, got index {index}"):
            _ = stored[index]


def test_memory_use_does_not_grow_with_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(indexed_sentences, "_BUFFERED_WORDS", 1000)

    def most(count):
        tracemalloc.start()
        stored = SentenceStore.write(tmp_path, (["a", "b", "c", "d"] for _ in range(count)))
        assert sum(map(len, stored)) == 4 * count
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    most(100)
    assert most(40_000) < most(4_000) + 20_000  # in a list they would take ten megabytes


def test_a_folder_that_cannot_be_written_raises_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot write sentences to"):
        SentenceStore.write(tmp_path / "none", [["a"]])
