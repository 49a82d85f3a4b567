import numpy as np
import pytest

from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.assignment import EncodedWords, KindAssigner
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.entity_sample import empty_sample
from thresher.entities.kinds.kind_model import KindModel


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
    ((found,),) = KindAssigner(classifier).assign([[["Oslo"]]], candidates, encoded)
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
    ((listed, other),) = assigner.assign([[words]], candidates, encoded)
    odds = np.exp(4) / 3
    assert (listed.kind, other.kind) == ("b", "a")
    assert listed.kind_score == pytest.approx(odds / (1 + odds), abs=1e-5)
    assert other.kind_score == pytest.approx(0.75, abs=1e-5)


def test_example_names_are_saved_with_the_kinds():
    zeros = np.zeros((2, 2), np.float32)
    classifier = KindClassifier(("a", "b"), zeros, zeros[0], zeros[0])
    listed = {("new", "oslo"): 1, ("rosa",): 0}
    read = KindModel.from_files(KindModel(empty_sample(2), classifier, listed=listed).to_files())
    assert read.listed == listed
    assert read.assigner.listed == listed
