"""Words and sentences of any text have correct offsets."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.text import Sentence, Word, segment
from thresher.text.segmentation.word_pattern import MAX_WORD_LENGTH
from thresher.text.sentences import MAX_SENTENCE_WORDS

AWKWARD = [
    "👩‍🔬", "👍🏽", "🇫🇷", "🇫", "1️⃣", "\u200d", "\ufe0f", "e\u0301", "\u0301", "שלום", "سلام؟",
    "\u202e", "\r\n", "\r", "\n\n", "\x00", "\ud800", "\udfff", "𝒜", "我去北京。", "ผมไป", "かな",
    "\u00a0", "\u3000", "\u200b", "\ufeff", "\x1c", "\x85", "\u2028", "\u0600", "Mr. ", "U.S. ",
    "don't ", "http://", "www.", "a@b.c", "#", "@x", "...", "?!”", "'", "’s", "-", "1,2", ". ",
    ") ", "A", "a",
]  # fmt: skip
anything = (
    st.text()
    | st.text(alphabet=st.characters())
    | st.lists(st.sampled_from(AWKWARD) | st.text(max_size=3), max_size=30).map("".join)
)


@settings(deadline=None, max_examples=400)
@given(anything)
@example("".join(AWKWARD))
@example("\u0600 x")
def test_every_visible_character_is_in_exactly_one_word(text):
    covered = [0] * len(text)
    for sentence in segment(text):
        for word in sentence.words:
            assert text[word.start : word.end] == word.text
            assert not any(character.isspace() for character in word.text)
            for index in range(word.start, word.end):
                covered[index] += 1
    assert covered == [0 if character.isspace() else 1 for character in text]


@settings(deadline=None)
@given(anything)
def test_sentences_are_in_order_and_not_too_long(text):
    sentences = segment(text)
    assert all(len(sentence.words) <= MAX_SENTENCE_WORDS for sentence in sentences)
    assert all(a.end <= b.start for a, b in pairwise(sentences))


@given(st.text(alphabet="ab .\n'’-U", max_size=80))
@settings(deadline=None)
def test_windows_line_ends_change_only_offsets(text):
    unix, windows = segment(text), segment(text.replace("\n", "\r\n"))
    assert [[w.text for w in s.words] for s in unix] == [[w.text for w in s.words] for s in windows]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\r\n", "\u3000\u00a0\x1c"])
def test_a_blank_text_has_no_sentences(text):
    assert segment(text) == []


def test_a_long_sentence_is_cut_between_words():
    sentences = segment("word " * (2 * MAX_SENTENCE_WORDS + 3))
    assert [len(sentence.words) for sentence in sentences] == [
        MAX_SENTENCE_WORDS,
        MAX_SENTENCE_WORDS,
        3,
    ]


def test_a_long_word_is_cut():
    words = [
        word for sentence in segment("x" * (2 * MAX_WORD_LENGTH + 1)) for word in sentence.words
    ]
    assert [len(word.text) for word in words] == [MAX_WORD_LENGTH, MAX_WORD_LENGTH, 1]


@pytest.mark.parametrize(
    "piece",
    ["a", "a.", "aa.Ba", ".", '."', "http://", "a@", "a-", "🇫", "👩‍🔬", "\u0301", "我", "(", ". -",
     "n't", "www.", "a.b/", ".\u200b", "a\n", "\n", "- ", "1,", "\x00", ". "],
)  # fmt: skip
def test_time_is_linear_in_the_length(piece):
    def once(length):
        start = time.process_time()
        segment(piece * (length // len(piece)))
        return time.process_time() - start

    def seconds(length):
        return min(once(length) for _ in range(3))  # a collection of garbage counts as work

    assert seconds(60_000) < 8 * seconds(15_000) + 0.5  # 4 times if linear, 16 if quadratic


class TestWord:
    def test_has_text_and_offsets(self):
        word = Word("Curie", 6, 11)
        assert (word.text, word.start, word.end) == ("Curie", 6, 11)

    @pytest.mark.parametrize("offsets", [(0, 4), (-1, 4), (5, 0), (3, 3)])
    def test_offsets_that_do_not_fit_the_text_are_refused(self, offsets):
        with pytest.raises(ValueError, match="the length of `text`, got"):
            Word("Curie", *offsets)

    def test_cannot_be_empty(self):
        with pytest.raises(ValueError, match="the length of `text`, got"):
            Word("", 0, 0)

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            Word("a", 0, 1).text = "b"


class TestSentence:
    def test_has_a_start_and_an_end(self):
        sentence = segment("  Marie left.  ")[0]
        assert (sentence.start, sentence.end) == (2, 13)

    def test_cannot_be_empty(self):
        with pytest.raises(ValueError, match="at least one word"):
            Sentence((), ())

    @pytest.mark.parametrize(
        ("texts", "starts"), [(("a", ""), (0, 1)), (("a",), ()), (("a",), (-1,))]
    )
    def test_needs_an_offset_for_every_word_and_no_empty_word(self, texts, starts):
        with pytest.raises(ValueError, match=r"none may be empty|one offset each"):
            Sentence(texts, starts)

    def test_words_must_not_overlap(self):
        with pytest.raises(ValueError, match="must not overlap"):
            Sentence(("ab", "b"), (0, 1))


class TestFromWords:
    @given(st.lists(st.text(min_size=1), min_size=1))
    def test_offsets_refer_to_the_words_joined_by_spaces(self, words):
        sentence = Sentence.from_words(words)
        text = " ".join(words)
        assert [text[word.start : word.end] for word in sentence.words] == words

    def test_white_space_inside_a_word_is_kept(self):
        words = ["10\u00a0000", "New York", "\u00a0"]
        assert [word.text for word in Sentence.from_words(words).words] == words

    def test_an_empty_word_is_refused(self):
        with pytest.raises(InputError, match="word 2 of a sentence is empty"):
            Sentence.from_words(["Marie", "", "left"])

    def test_no_words_are_refused(self):
        with pytest.raises(InputError, match="has no words"):
            Sentence.from_words([])


@pytest.mark.parametrize("unit", ["a", ".", ". ", "a.b-", "a@", "'", "中", "1,", "A.", "aa.Bb"])
def test_very_long_words_are_split_in_linear_time(unit):
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    sentences = segment(text)
    assert time.process_time() - start < 10
    words = [word for sentence in sentences for word in sentence.texts]
    assert "".join(words) == text.replace(" ", "")
    assert max(map(len, words)) <= MAX_WORD_LENGTH
