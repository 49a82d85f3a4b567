from statistics import median_high

from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.lists import with_listed_names


def scores_of(separators, scores):
    """Return the scores of one-word names between these separators."""
    words, candidates = ["Name"], [Candidate(0, 1, scores[0])]
    for separator, score in zip(separators, scores[1:], strict=True):
        words += [*separator.split(), "Name"]
        candidates.append(Candidate(len(words) - 1, len(words), score))
    (found,) = with_listed_names([words], [candidates])
    assert [(each.start, each.end) for each in found] == [(c.start, c.end) for c in candidates]
    return [each.score for each in found]


def test_low_scores_rise_to_the_median():
    assert scores_of([",", ",", ", and"], [0.9, 0.1, 0.8, 0.7]) == [0.9, 0.8, 0.8, 0.8]


def test_three_names_are_too_few():
    assert scores_of([",", "and"], [0.9, 0.1, 0.8]) == [0.9, 0.1, 0.8]


def test_other_words_end_a_list():
    scores = [0.9, 0.1, 0.8, 0.7]
    assert scores_of([",", "of", ","], scores) == scores


def test_sentences_without_candidates_stay_empty():
    assert with_listed_names([["a", "b"], []], [[], []]) == [[], []]


@given(st.lists(st.floats(0, 1), min_size=4, max_size=9))
def test_at_least_half_of_a_list_keeps_its_scores(scores):
    found = scores_of([","] * (len(scores) - 1), scores)
    assert all(new >= old for new, old in zip(found, scores, strict=True))
    assert min(found) == median_high(scores)
