from statistics import median_high

from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.lists import with_listed_names
from thresher.text.indexed_sentences import IndexedSentences


def listed(sentences, candidates):
    """Return the candidates of each sentence after lists were read."""
    indexed = IndexedSentences.from_sentences(sentences)
    arrays = CandidateArrays.of(indexed, candidates)
    return with_listed_names(indexed, arrays).by_sentence(indexed)


def scores_of(separators, scores):
    """Return the scores of one-word names between these separators."""
    words, candidates = ["Name"], [Candidate(0, 1, scores[0])]
    for separator, score in zip(separators, scores[1:], strict=True):
        words += [*separator.split(), "Name"]
        candidates.append(Candidate(len(words) - 1, len(words), score))
    (found,) = listed([words], [candidates])
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
    assert listed([["a", "b"], []], [[], []]) == [[], []]


def test_a_list_ends_with_its_sentence():
    sentences = [["Name", ",", "Name", ","], ["Name", ",", "Name"]]
    candidates = [[Candidate(0, 1, 0.9), Candidate(2, 3, 0.8)]]
    candidates.append([Candidate(0, 1, 0.1), Candidate(2, 3, 0.7)])
    assert listed(sentences, candidates) == candidates


@given(st.lists(st.floats(0, 1), min_size=4, max_size=9))
def test_at_least_half_of_a_list_keeps_its_scores(scores):
    found = scores_of([","] * (len(scores) - 1), scores)
    assert all(new >= old for new, old in zip(found, scores, strict=True))
    assert min(found) == median_high(scores)
