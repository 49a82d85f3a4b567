import numpy as np
import pytest

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.assignment import EncodedWords, KindAssigner
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.entity_sample import empty_sample
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.text.indexed_sentences import IndexedSentences


def assigned(assigner, words, candidates, encoded, dates=None):
    """Return the candidates of a text of one sentence with their kinds."""
    sentences = IndexedSentences.from_sentences([words])
    found = CandidateArrays.of(sentences, candidates)
    mentions = Mentions.of(sentences, found, [1])
    return assigner.assign(sentences, found, mentions, encoded, dates)


@pytest.mark.parametrize(
    ("score", "kind_score", "has_kind"),
    [
        (1.0, 0.6, True),
        (0.35, 0.6, False),  # an entity of this kind with a probability of 0.21
        (0.4, 0.6, True),  # 0.24
        (1.0, 0.28, False),  # the kind is too uncertain
        (0.1, 0.85, True),  # the kind is certain, whatever the threshold of entities is
    ],
)
def test_a_kind_needs_a_probable_entity_of_this_kind(score, kind_score, has_kind):
    """The bias alone gives the first of five kinds its probability."""
    probabilities = np.array([kind_score, *[(1 - kind_score) / 4] * 4], dtype=np.float32)
    zeros = np.zeros((5, 2), np.float32)
    classifier = KindClassifier(tuple("abcde"), zeros, np.log(probabilities), zeros[0])
    encoded = EncodedWords(np.ones(1, np.float32), np.ones((1, 2), np.float32))
    candidates = [[Candidate(0, 1, score)]]
    ((found,),) = assigned(KindAssigner(classifier), ["Oslo"], candidates, encoded)
    assert (found.start, found.end, found.score) == (0, 1, score)
    assert found.kind == ("a" if has_kind else None)
    if has_kind:
        assert found.kind_score == pytest.approx(kind_score, abs=1e-6)


def test_example_names_are_evidence_for_their_kind():
    """The classifier prefers the first kind with odds of 3; the list adds e⁴ to the second."""
    zeros = np.zeros((2, 2), np.float32)
    classifier = KindClassifier(("a", "b"), zeros, np.log([0.75, 0.25]).astype("f"), zeros[0])
    assigner = KindAssigner(classifier, {("new", "oslo"): 1})
    words = ["New", "OSLO", "and", "Bergen"]
    encoded = EncodedWords(np.ones(4, np.float32), np.ones((4, 2), np.float32))
    candidates = [[Candidate(0, 2, 1.0), Candidate(3, 4, 1.0)]]
    ((listed, other),) = assigned(assigner, words, candidates, encoded)
    odds = np.exp(4) / 3
    assert (listed.kind, other.kind) == ("b", "a")
    assert listed.kind_score == pytest.approx(odds / (1 + odds), abs=1e-5)
    assert other.kind_score == pytest.approx(0.75, abs=1e-5)


@pytest.mark.parametrize(
    ("words", "start", "kind"),
    [
        (["The", "Beatles", "sang"], 1, "b"),  # finding often leaves out the article
        (["the", "BEATLES"], 1, "b"),
        (["These", "Beatles"], 1, "a"),
        (["Beatles"], 0, "a"),
        (["The", "Beatles"], 0, "b"),
    ],
)
def test_the_article_of_an_example_may_be_before_the_entity(words, start, kind):
    zeros = np.zeros((2, 2), np.float32)
    classifier = KindClassifier(("a", "b"), zeros, np.log([0.75, 0.25]).astype("f"), zeros[0])
    assigner = KindAssigner(classifier, {("the", "beatles"): 1})
    encoded = EncodedWords(np.ones(len(words), np.float32), np.ones((len(words), 2), np.float32))
    end = min(start + 2, 2, len(words))
    ((found,),) = assigned(assigner, words, [[Candidate(start, end, 1.0)]], encoded)
    assert found.kind == kind


@pytest.mark.parametrize("listed", [{}, {("oslo",): 0, ("yesterday",): 0, ("imagine",): 0}])
def test_dates_have_no_kind(listed):
    """A song called Yesterday does not make all dates works."""
    assert _kinds_with_dates(listed) == ["a", None, None, None]


def test_dates_have_a_kind_whose_examples_are_dates():
    listed = {("monday",): 1, ("3", "may", "2022"): 1, ("oslo",): 0}
    assert _kinds_with_dates(listed) == ["a", "b", "b", "b"]


def _kinds_with_dates(listed):
    """Return the kinds of a place, a weekday, a date and a year."""
    zeros = np.zeros((2, 2), np.float32)
    odds = np.array([[2.0], [-2.0]], np.float32)  # of the first kind if the vector is positive
    classifier = KindClassifier(("a", "b"), np.hstack([odds, odds * 0]), zeros[0], zeros[0])
    words = ["Oslo", "Monday", "3", "May", "2022", "1998"]
    sign = 1.0 if ("monday",) not in listed else -1.0
    vectors = np.array([[1.0, 0], *[[sign, 0]] * 5], np.float32)
    encoded = EncodedWords(np.ones(6, np.float32), vectors)
    bounds = [(0, 1), (1, 2), (2, 5), (5, 6)]
    candidates = [[Candidate(*each, 1.0) for each in bounds]]
    dates = frozenset(["monday", "may", "yesterday"])
    (found,) = assigned(KindAssigner(classifier, listed), words, candidates, encoded, dates)
    return [each.kind for each in found]


def test_example_names_are_saved_with_the_kinds():
    zeros = np.zeros((2, 2), np.float32)
    classifier = KindClassifier(("a", "b"), zeros, zeros[0], zeros[0])
    listed = {("new", "oslo"): 1, ("rosa",): 0}
    read = KindModel.from_files(KindModel(empty_sample(2), classifier, listed=listed).to_files())
    assert read.listed == listed
    assert read.assigner.listed == listed
