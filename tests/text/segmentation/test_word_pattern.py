"""What is one word and what is several; a space in an expected value is a split."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import segment
from thresher.text.segmentation import word_pattern
from thresher.text.segmentation.unspaced_scripts import _splitter, words_of_run
from thresher.text.segmentation.word_pattern import words_of_chunk

WORDS = {
    # clitics, with both apostrophes
    "Curie's": "Curie 's",
    "Curie’s": "Curie ’s",
    "don't": "do n't",
    "DON’T": "DO N’T",
    "can't": "ca n't",
    "won't.": "wo n't .",
    "they're": "they 're",
    "I'd've": "I 'd 've",
    "she'll": "she 'll",
    "James'": "James '",
    "U.S.'s": "U.S. 's",
    "1990's": "1990 's",
    # apostrophes that belong to the word
    "O'Neill": "O'Neill",
    "o’clock": "o’clock",
    "n'ụtụtụ": "n'ụtụtụ",
    "sana'o'i": "sana'o'i",
    "'quoted'": "' quoted '",
    # hyphens and slashes
    "Jean-Paul": "Jean - Paul",
    "COVID-19": "COVID - 19",
    "and/or": "and / or",
    # full stops that belong to the word
    "Mr.": "Mr.",
    "mr.": "mr.",
    "etc.,": "etc. ,",
    "U.S.": "U.S.",
    "U.S.A": "U.S.A",
    "e.g.": "e.g.",
    "Ph.D.": "Ph.D.",
    "J.": "J.",
    "J.K.Rowling": "J.K. Rowling",
    "ዓ.ም": "ዓ.ም",
    "node.js": "node.js",
    # full stops that do not
    "left.": "left .",
    "late.He": "late . He",
    # numbers
    "1,234.56": "1,234.56",
    "3.5%": "3.5 %",
    "$1.2bn": "$ 1.2bn",
    "10:30": "10:30",
    "16/2013": "16/2013",
    "5th": "5th",
    "1,": "1 ,",
    "٣٫٥": "٣٫٥",
    # addresses
    "https://a.b/c?d=e&f.": "https://a.b/c?d=e&f .",
    "(http://x.y/z)": "( http://x.y/z )",
    "www.example.org,": "www.example.org ,",
    "example.org/a/b": "example.org/a/b",
    "a.b+c@d-e.org.": "a.b+c@d-e.org .",
    "@thresher_1": "@thresher_1",
    "#entities": "#entities",
    "#1": "# 1",
    # runs of one mark
    "...": "...",
    "--": "--",
    "!!!": "!!!",
    "?!": "? !",
    "wait...what": "wait ... what",
    # emoji, one grapheme cluster a word
    "👩‍🔬👍🏽": "👩‍🔬 👍🏽",
    "🇫🇷🇩🇪": "🇫🇷 🇩🇪",
    "Hi😀": "Hi 😀",
    "1️⃣": "1️⃣",
    # marks and invisible characters stay with their letters
    "Ẹ̀kọ́": "Ẹ̀kọ́",
    "हिन्दी": "हिन्दी",
    "می\u200cخواهم": "می\u200cخواهم",
    "co\u00adoperate": "co\u00adoperate",
    # punctuation of other scripts
    "«да»,": "« да » ,",
    "ነው።": "ነው ።",
    "بخير؟": "بخير ؟",
}  # fmt: skip


@pytest.mark.parametrize(("chunk", "words"), WORDS.items())
def test_a_chunk_is_split_as_in_treebanks(chunk, words):
    assert " ".join(words_of_chunk(chunk)) == words


@given(st.text(min_size=1).filter(lambda text: not any(c.isspace() for c in text)))
def test_the_words_of_a_chunk_make_the_chunk(chunk):
    assert "".join(words_of_chunk(chunk)) == chunk
    assert all(words_of_chunk(chunk))


def test_a_letter_keeps_its_stop_inside_a_sentence_but_not_at_the_end():
    words = [word.text for word in segment("J. Smith had a plan B.")[0].words]
    assert words == ["J.", "Smith", "had", "a", "plan", "B", "."]


def test_spaced_and_unspaced_scripts_are_told_apart():
    words = words_of_chunk("我的iPhone15很好")
    assert "iPhone15" in words
    assert "".join(words) == "我的iPhone15很好"


@pytest.fixture
def without_icu(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    _splitter.cache_clear()
    yield
    _splitter.cache_clear()


@pytest.mark.usefixtures("without_icu")
def test_without_a_dictionary_a_grapheme_cluster_is_a_word():
    assert words_of_run("北京大学") == ["北", "京", "大", "学"]
    assert words_of_run("ที่นี่") == ["ที่", "นี่"]


def test_with_a_dictionary_words_are_found():
    pytest.importorskip("icu4py")
    _splitter.cache_clear()
    assert words_of_run("ผมไปโรงเรียน") == ["ผม", "ไป", "โรงเรียน"]
    assert words_of_run("北京大学") == ["北京", "大学"]


def test_few_chunks_are_remembered_and_forgetting_changes_nothing(monkeypatch):
    remembered = word_pattern._Remembered()
    monkeypatch.setattr(word_pattern, "_MOST_REMEMBERED", 2)
    chunks = ["don't", "Curie's", "U.S.", "x" * 41, "don't", "(Rome)"]
    assert [remembered[chunk] for chunk in chunks] == list(map(word_pattern._words, chunks))
    assert 0 < len(remembered) <= 2
    assert "x" * 41 not in remembered
