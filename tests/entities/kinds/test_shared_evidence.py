import numpy as np

from thresher.entities.kinds.classifier import log_softmax
from thresher.entities.kinds.shared_evidence import Mentions


def random_evidence(spans):
    return log_softmax(np.random.default_rng(0).normal(size=(spans, 3)).astype(np.float32))


def averaged(own, mentions, weights=None):
    return log_softmax(((own + np.average(mentions, axis=0, weights=weights)) / 2)[None])[0]


def test_occurrences_of_a_name_share_their_evidence_within_a_text_only():
    mentions = Mentions.in_texts([[("paris",), ("rome",), ("paris",)], [("paris",)]])
    assert mentions.names.tolist() == [0, 1, 0, 2]
    before = random_evidence(4)
    after = mentions.share(before)
    np.testing.assert_allclose(after[[1, 3]], before[[1, 3]], atol=1e-6)
    np.testing.assert_allclose(after[0], averaged(before[0], before[[0, 2]]), atol=1e-6)


def test_a_full_name_is_evidence_for_the_surname():
    mentions = Mentions.in_texts([[("nowak",), ("magda", "nowak"), ("nowak",)], [("nowak",)]])
    before = random_evidence(4)
    after = mentions.share(before)
    np.testing.assert_allclose(after[[1, 3]], before[[1, 3]], atol=1e-6)
    expected = averaged(before[2], before[[0, 1, 2]], weights=[1, 3, 1])
    np.testing.assert_allclose(after[2], expected, atol=1e-6)


def test_other_longer_names_are_no_evidence():
    names = ["Waterloo", "Battle of Waterloo", "Chicago", "Chicago Bulls", "Bulls and Bears"]
    before = random_evidence(len(names))
    after = Mentions.in_texts([[tuple(name.lower().split()) for name in names]]).share(before)
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_no_spans_have_no_evidence():
    assert Mentions.in_texts([[], []]).share(np.zeros((0, 3), np.float32)).shape == (0, 3)
