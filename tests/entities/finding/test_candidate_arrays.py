import numpy as np

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.own_articles import with_own_articles
from thresher.text.indexed_sentences import IndexedSentences

SENTENCES = IndexedSentences.from_sentences(
    [[], ["Rosa", "met", "ANN", "Lee"], [], ["Nobody"], ["in", "Oslo"]]
)
CANDIDATES = [[], [Candidate(0, 1, 0.5), Candidate(2, 4, 0.9)], [], [], [Candidate(1, 2, 0.3)]]


def test_arrays_become_the_candidates_of_the_same_sentences_again():
    arrays = CandidateArrays.of(SENTENCES, CANDIDATES)
    assert arrays.by_sentence(SENTENCES) == CANDIDATES
    again = CandidateArrays.from_spans(SENTENCES, arrays.starts, arrays.ends, arrays.scores)
    assert again.by_sentence(SENTENCES) == CANDIDATES
    assert arrays.rows(np.array([2])).by_sentence(SENTENCES) == [[], [], [], [], CANDIDATES[-1]]


def test_kinds_are_given_in_the_order_of_the_candidates():
    arrays = CandidateArrays.of(SENTENCES, CANDIDATES)
    found = arrays.by_sentence(SENTENCES, ["person", None, "place"], [0.7, None, 0.8])
    assert found[1][0] == Candidate(0, 1, 0.5, "person", 0.7)
    assert found[1][1] == Candidate(2, 4, 0.9)
    assert found[4] == [Candidate(1, 2, 0.3, "place", 0.8)]


def test_names_are_case_folded():
    names = CandidateArrays.of(SENTENCES, CANDIDATES).names(SENTENCES)
    assert names == [("rosa",), ("ann", "lee"), ("oslo",)]


def test_a_capitalised_article_within_a_sentence_is_part_of_the_name():
    texts = [
        "she played there with us in The Forge",
        "The Forge is closed",
        "she slept in the Forge tonight",
    ]
    sentences = IndexedSentences.from_sentences([each.split() for each in texts])
    candidates = [[Candidate(7, 8, 0.5)], [Candidate(1, 2, 0.5)], [Candidate(4, 5, 0.5)]]
    found = with_own_articles(sentences, CandidateArrays.of(sentences, candidates))
    starts = [each.start for own in found.by_sentence(sentences) for each in own]
    assert starts == [6, 1, 4]
