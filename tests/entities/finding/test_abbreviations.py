import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.abbreviations import long_form_start, with_long_forms
from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.text.indexed_sentences import IndexedSentences


def start_in(text):
    words = text.split()
    return long_form_start(words, words.index("("))


def found_in(text, *candidates):
    sentences = IndexedSentences.from_sentences([text.split()])
    arrays = CandidateArrays.of(sentences, [[Candidate(*each) for each in candidates]])
    return with_long_forms(sentences, arrays).by_sentence(sentences)[0]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("the World Health Organization ( WHO )", 1),
        ("the world health organization ( who )", 1),
        ("at the National Aeronautics and Space Administration ( NASA )", 2),
        ("Department of Defense ( DoD )", 0),
        ("uses conditional random fields ( CRFs )", 1),
        ("long short-term memory [ LSTM ] (", None),  # the first parenthesis is the last word
        ("long short-term memory ( LSTM )", 0),
        ("an end-stage renal disease ( ESRD )", 1),
        ("Democracy ( D )", None),
        ("they met in Geneva ( WHO )", None),
        ("Health Organization ( WHO )", None),
        ("world health organization ( WHO", None),
        ("in two years ( 2 )", None),
        ("one two three ( 123 )", None),
    ],
)
def test_initials_spell_the_abbreviation(text, start):
    assert start_in(text) == start


@given(st.lists(st.from_regex("[a-z]{1,8}", fullmatch=True), min_size=2, max_size=10))
def test_words_are_the_long_form_of_their_initials(words):
    abbreviation = "".join(word[0] for word in words).upper()
    start = long_form_start(["§", *words, "(", abbreviation, ")"], len(words) + 1)
    assert start is not None
    # Words that may be skipped need not be, so the long form can only start at the first word.
    assert start == 1


@given(st.lists(st.sampled_from(["(", ")", "a", "A-b", "", "-", "AB", "7"]), max_size=9))
def test_any_words_can_be_checked(words):
    for position in range(len(words)):
        start = long_form_start(words, position)
        assert start is None or 0 <= start <= position - 2


def test_both_get_the_larger_score_and_parts_are_replaced():
    text = "the National Aeronautics and Space Administration ( NASA ) in Washington"
    found = found_in(text, (1, 3, 0.5), (4, 6, 0.6), (7, 8, 0.9), (10, 11, 0.8))
    assert found == [Candidate(1, 6, 0.9), Candidate(7, 8, 0.9), Candidate(10, 11, 0.8)]


def test_the_long_form_supports_its_abbreviation():
    found = found_in("the World Health Organization ( WHO )", (1, 4, 0.9), (5, 6, 0.2))
    assert found == [Candidate(1, 4, 0.9), Candidate(5, 6, 0.9)]


def test_without_a_candidate_nothing_is_found():
    assert found_in("mean arterial pressure ( MAP ) in Boston", (7, 8, 0.9)) == [
        Candidate(7, 8, 0.9)
    ]


def test_each_long_form_of_a_sentence_has_its_own_score():
    first, second = "World Health Organization ( WHO )", "United Nations ( UN )"
    found = found_in(f"{first} and {second}", (1, 3, 0.7), (7, 8, 0.4), (10, 11, 0.6))
    assert found == [Candidate(0, 3, 0.7), Candidate(7, 9, 0.6), Candidate(10, 11, 0.6)]


def test_a_sentence_can_have_thousands_of_abbreviations():
    words = "Alpha Beta ( AB ) and".split() * 20_000
    candidates = [Candidate(start, start + 1, 0.5) for start in range(0, len(words), 6)]
    sentences = IndexedSentences.from_sentences([words])
    arrays = CandidateArrays.of(sentences, [candidates])
    (found,) = with_long_forms(sentences, arrays).by_sentence(sentences)
    assert found == [each._replace(end=each.start + 2) for each in candidates]
