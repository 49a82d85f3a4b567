from statistics import median_high

from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.supported_scores import with_listed_names, with_repeated_mentions
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.text.indexed_sentences import IndexedSentences

HUANG = ["Jensen", "Huang", "spoke"]


def texts_of(*scores):
    """One text whose sentences each mention Jensen Huang, with these scores."""
    return [HUANG] * len(scores), [[Candidate(0, 2, score)] for score in scores]


def found_in(sentences, candidates, lengths):
    """Return the candidates of each sentence of texts with these numbers of sentences."""
    indexed = IndexedSentences.from_sentences(sentences)
    arrays = CandidateArrays.of(indexed, candidates)
    mentions = Mentions.of(indexed, arrays, lengths)
    return with_repeated_mentions(arrays, mentions.names).by_sentence(indexed)


def supported(sentences, candidates, lengths):
    return [each.score for own in found_in(sentences, candidates, lengths) for each in own]


def test_a_name_found_in_two_of_three_mentions_is_found_in_the_third():
    assert supported(*texts_of(0.9, 0.1, 0.8), [3]) == [0.9, 0.8, 0.8]


def test_one_sure_mention_does_not_carry_others():
    assert supported(*texts_of(0.9, 0.1), [2]) == [0.9, 0.1]
    assert supported(*texts_of(0.9, 0.1, 0.2), [3]) == [0.9, 0.2, 0.2]


def test_mentions_in_other_texts_do_not_count():
    assert supported(*texts_of(0.9, 0.1, 0.8), [1, 1, 1]) == [0.9, 0.1, 0.8]


def test_case_does_not_matter_and_other_words_do():
    sentences = [["Huang"], ["HUANG"], ["huang"], ["Jensen", "Huang"]]
    candidates = [[Candidate(0, 1, s)] for s in (0.9, 0.8, 0.1)] + [[Candidate(0, 2, 0.2)]]
    assert supported(sentences, candidates, [4]) == [0.9, 0.8, 0.8, 0.2]


@given(st.lists(st.floats(0, 1), max_size=9))
def test_scores_are_never_lowered_and_two_thirds_reach_the_new_minimum(scores):
    sentences, candidates = texts_of(*scores)
    found = supported(sentences, candidates, [len(scores)])
    assert all(new >= old for new, old in zip(found, scores, strict=True))
    if len(scores) > 1:
        reached = sum(score >= min(found) for score in scores)
        assert reached >= 2 * len(scores) / 3


def test_nothing_else_of_a_candidate_changes():
    sentences, candidates = texts_of(0.9, 0.9, 0.1)
    found = found_in(sentences, candidates, [3])
    assert [[(each.start, each.end, each.kind) for each in own] for own in found] == [
        [(0, 2, None)]
    ] * 3
    assert candidates[2][0].score == 0.1  # the argument is not changed


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
