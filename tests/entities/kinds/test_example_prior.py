import numpy as np
import torch

from thresher.entities.kinds.assignment import finding_scores
from thresher.entities.kinds.example_prior import example_prior, kinds_of_words
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import KindGates, kind_scores, train_kind_gates
from thresher.entities.training.kinds import fit_gates
from thresher.progress import SilentProgress

EXAMPLES = KindExamples({"place": ("New York", "York"), "person": ("Marie Curie",)})


def test_words_of_example_names_are_found_in_any_case_and_the_longest_name_counts():
    sentences = [["In", "NEW", "YORK", ",", "marie", "curie", "left", "York"], ["Marie", "left"]]
    assert kinds_of_words(sentences, EXAMPLES).tolist() == [-1, 0, 0, -1, 1, 1, -1, 0, -1, -1]


def two_kinds(words=1200, seed=0):
    """Word vectors near one of two centres (10 % of words each) or anywhere else."""
    random = np.random.default_rng(seed)
    centres = 4 * np.eye(8, dtype=np.float32)[:2]
    kinds = random.choice(3, size=words, p=[0.1, 0.1, 0.8])
    vectors = random.normal(size=(words, 8)).astype(np.float32)
    vectors[kinds < 2] += centres[kinds[kinds < 2]]
    return vectors, np.where(kinds < 2, kinds, -1)


def test_the_prior_spreads_from_a_few_examples_to_words_like_them():
    vectors, truth = two_kinds()
    known = truth.copy()
    known[np.flatnonzero(truth >= 0)[20:]] = -1  # 20 of about 240 are known
    prior = example_prior(vectors, known, np.ones(len(truth), bool), count=2)
    hidden = (truth >= 0) & (known < 0)
    assert (prior[hidden].argmax(axis=1) == truth[hidden]).mean() > 0.95
    assert prior[hidden].max(axis=1).mean() > 5 * prior[truth < 0].max(axis=1).mean()


def test_a_word_that_cannot_be_a_name_has_the_prior_0():
    vectors, truth = two_kinds()
    possible = np.arange(len(truth)) % 2 == 0
    known = np.where(possible, truth, -1)
    assert (example_prior(vectors, known, possible, count=2)[~possible] == 0).all()


def test_kind_gates_agree_with_their_priors_and_are_saved():
    vectors, truth = two_kinds()
    prior = np.eye(3, dtype=np.float32)[truth][:, :2]
    gates = train_kind_gates(vectors, prior, device=torch.device("cpu"))
    scores = kind_scores(gates, vectors)
    assert ((scores > 0.5) == (prior > 0.5)).mean() > 0.95
    again = KindGates.from_arrays(2, gates.to_arrays())
    np.testing.assert_allclose(kind_scores(again, vectors), scores, atol=1e-3)


def test_only_gates_of_kinds_that_are_often_missed_find_entities():
    vectors, truth = two_kinds()
    sentences = [[("a", "b", "x")[kind] for kind in truth.tolist()]]
    found = (truth == 0) & (np.arange(len(truth)) % 10 > 0)  # nine in ten of the first kind
    gates = fit_gates(
        sentences,
        vectors,
        np.ones(len(truth), bool),
        found,
        KindExamples({"first": ("a",), "second": ("b",)}),
        device=torch.device("cpu"),
        seed=0,
        progress=SilentProgress(),
    )
    assert gates.finding == (False, True)
    again = KindGates.from_arrays(2, gates.to_arrays())
    assert again.finding == gates.finding
    scores = kind_scores(gates, vectors)
    np.testing.assert_array_equal(finding_scores(scores, again.finding), scores[:, 1])
    np.testing.assert_array_equal(finding_scores(scores, None), scores.max(axis=1))
    assert finding_scores(scores, (False, False)) is None
