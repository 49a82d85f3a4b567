"""Fourier filters and dual models as values, and in training."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from tests.tiny_encoder import random_sentences

from thresher.entities.training.fit import best_agreement
from thresher.entities.training.loop import TrainingCorpus, train_selectors
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import TrainingState
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.gates.variants import DualModels, FourierFilter, mean_divergence
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.maths.gate_forms import gate

QUICK = {"hidden": 16, "epochs": 3, "sentences_per_batch": 8, "contrast": 0.3}


@pytest.fixture
def corpus(tiny, tmp_path):
    """Sentences of made-up words; the prior holds those below w10 to be entities."""
    rng = np.random.default_rng(0)
    sentences = random_sentences(rng)
    vectors = cache_vectors(tiny, sentences, tmp_path / "vectors.npy")
    prior = [float(word in {f"w{i}" for i in range(10)}) for words in sentences for word in words]
    units = UnitIndex.of_features(Features(), tiny, sentences)
    tiny.read.clear()
    return TrainingCorpus(sentences, vectors, units, np.array(prior, dtype=np.float32))


def trained(encoder, corpus, settings):
    reports = []
    state = TrainingState.new(settings, encoder.width, encoder.device)
    selectors = train_selectors(state, encoder, corpus, settings, after_epoch=reports.append)
    with torch.inference_mode():
        vectors = torch.from_numpy(np.asarray(corpus.vectors, dtype=np.float32))
        gates = [selector(vectors).prob_open().numpy() for selector in selectors]
    return gates, reports


# Fourier filters


def wave(k, width=16):
    return torch.cos(2 * math.pi * k * torch.arange(width) / width)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"kind": "low", "cutoff": 0.25}, {0, 1, 2}),
        ({"kind": "high", "cutoff": 0.25}, {3, 4, 5, 6, 7, 8}),
        ({"kind": "band", "cutoff": 0.25, "upper": 0.5}, {3, 4}),
        ({"kind": "low", "cutoff": 0}, {0}),
        ({"kind": "high", "cutoff": 0}, {1, 2, 3, 4, 5, 6, 7, 8}),
        ({"kind": "low", "cutoff": 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8}),
    ],
)
def test_a_filter_keeps_exactly_the_waves_within_its_cut_offs(options, kept):
    for k in range(9):  # of width 16, wave k has the frequency k/8
        filtered = FourierFilter(**options)(wave(k))
        torch.testing.assert_close(filtered, wave(k) * (k in kept), atol=1e-5, rtol=0)


def test_a_filter_changes_the_trained_weights(tiny, corpus):
    plain = EntitySettings(**QUICK, contrast_share=1.0)
    low = EntitySettings(**QUICK, contrast_share=1.0, filter=FourierFilter(kind="low", cutoff=0.3))
    (gates,), (other,) = trained(tiny, corpus, plain)[0], trained(tiny, corpus, low)[0]
    assert not np.array_equal(gates, other)


def test_a_filter_that_keeps_everything_changes_nothing_but_rounding(tiny, corpus):
    whole = EntitySettings(
        **QUICK, contrast_share=1.0, filter=FourierFilter(kind="low", cutoff=1.0)
    )
    (gates,), _ = trained(tiny, corpus, EntitySettings(**QUICK, contrast_share=1.0))
    (other,), _ = trained(tiny, corpus, whole)
    np.testing.assert_allclose(gates, other, atol=1e-3)


# Dual models


def some_gates(count, form="thresholded"):
    noise = torch.Generator().manual_seed(0)
    return [gate(form, *(1 + 3 * torch.rand(2, 7, generator=noise)).unbind()) for _ in range(count)]


@pytest.mark.parametrize("count", [2, 3])
def test_the_divergence_is_the_mean_symmetric_kl_over_words_and_pairs(count):
    gates = some_gates(count)
    p = [each.prob_open().double().numpy() for each in gates]
    expected = np.mean(
        [(a - b) * (np.log(a / (1 - a)) - np.log(b / (1 - b))) / 2 for a, b in combinations(p, 2)]
    )
    assert float(mean_divergence(gates)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("form", ["thresholded", "stretched", "continuous"])
def test_gates_do_not_diverge_from_themselves(form):
    (gates,) = some_gates(1, form)
    assert float(mean_divergence([gates, gates])) == pytest.approx(0, abs=1e-6)


def test_repelling_is_rewarded_up_to_its_cap_and_no_further():
    gates = some_gates(2)
    divergence = float(mean_divergence(gates))
    weight, term = DualModels(relation="repel", weight=0.7, cap=2 * divergence).term(gates)
    assert (weight, float(term)) == (-0.7, pytest.approx(divergence))
    _, term = DualModels(relation="repel", cap=divergence / 2).term(gates)
    assert float(term) == pytest.approx(divergence / 2)
    weight, term = DualModels(relation="align", weight=0.7, cap=divergence / 2).term(gates)
    assert (weight, float(term)) == (0.7, pytest.approx(divergence))


def test_beyond_the_cap_there_is_no_gradient():
    a = torch.tensor([1.5, 4.0], requires_grad=True)
    gates = [gate("thresholded", a, 2.0), gate("thresholded", torch.tensor([4.0, 1.5]), 2.0)]
    _, term = DualModels(relation="repel", cap=0.01).term(gates)
    (gradient,) = torch.autograd.grad(term, a)
    assert gradient.tolist() == [0, 0]


def dual_settings(relation, **options):
    dual = DualModels(relation=relation, **{"weight": 1.0, **options})
    return EntitySettings(
        **{**QUICK, "epochs": 40}, learning_rate=3e-2, contrast_share=0.1, dual=dual
    )


def test_aligned_selectors_differ_less_than_repelled_ones(tiny, corpus):
    _, aligned = trained(tiny, corpus, dual_settings("align"))
    _, repelled = trained(tiny, corpus, dual_settings("repel", cap=1.0))
    assert aligned[-1].terms["divergence"] < 0.02
    assert repelled[-1].terms["divergence"] > 0.5


def test_repelled_selectors_open_for_different_words_at_their_own_rates(tiny, corpus):
    settings = dual_settings("repel", cap=1.0, weight=0.3, target_rates=(None, 0.3))
    gates, reports = trained(tiny, corpus, settings)
    entities = corpus.prior == 1
    assert gates[0][entities].mean() > 0.7
    assert gates[1][entities].mean() < 0.3
    assert reports[-1].selected[1] == pytest.approx(0.3, abs=0.1)
    assert reports[-1].collapse is None


def test_every_selector_has_its_terms_and_its_weight_of_sparsity(tiny, corpus):
    dual = DualModels(relation="align", selectors=3, sparsity=(0.1, 0.2, 0.3))
    _, reports = trained(tiny, corpus, EntitySettings(**QUICK, contrast_share=1.0, dual=dual))
    assert reports[-1].sparsity_weights == (0.1, 0.2, 0.3)
    own = {"agreement", "rationale", "complement", "continuity", "sparsity"}
    names = own | {f"{name} {k}" for name in own for k in (2, 3)} | {"divergence"}
    assert set(reports[-1].terms) == names
    assert len(reports[-1].selected) == 3


def test_all_aligned_selectors_learn_from_the_prior_and_only_the_first_of_repelled_ones(
    tiny, corpus
):
    for relation, taught in (("align", True), ("repel", False)):
        _, reports = trained(
            tiny, corpus, EntitySettings(**QUICK, dual=DualModels(relation=relation))
        )
        assert ("agreement 2" in reports[-1].terms) is taught


def test_the_first_selector_starts_like_a_single_one():
    alone = TrainingState.new(EntitySettings(seed=3), 8, torch.device("cpu"))
    dual = TrainingState.new(EntitySettings(seed=3, dual=DualModels()), 8, torch.device("cpu"))
    first, second = (each.inner.weight for each in dual.selectors)
    assert torch.equal(first, alone.selectors[0].inner.weight)
    assert not torch.equal(first, second)


# Which selector finds entities


def test_the_selector_whose_gates_the_prior_fits_best_is_chosen():
    prior = np.array([1, 0, np.nan, 1, 0], dtype=np.float32)
    right, wrong = np.array([0.9, 0.1, 0.0, 0.8, 0.2]), np.array([0.1, 0.9, 1.0, 0.2, 0.8])
    gates = [each.astype(np.float32) for each in (wrong, right, wrong)]
    assert best_agreement(gates, prior) == 1


def test_words_without_a_prior_probability_are_ignored():
    prior = np.full(3, np.nan, dtype=np.float32)
    assert best_agreement([np.zeros(3, np.float32), np.ones(3, np.float32)], prior) == 0


# Wrong values


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FourierFilter(kind="mid", cutoff=0.5), "unknown `filter` 'mid'; choose from low"),
        (
            lambda: FourierFilter(kind="low", cutoff=1.5),
            r"`cutoff` must be at least 0 and at most 1, got 1.5",
        ),
        (
            lambda: FourierFilter(kind="high", cutoff=-0.1),
            r"`cutoff` must be at least 0 and at most 1, got -0.1",
        ),
        (
            lambda: FourierFilter(kind="band", cutoff=0.5, upper=0.2),
            "`upper` must be above `cutoff`, 0.5, got 0.2",
        ),
        (lambda: DualModels(selectors=0), "`selectors` must be at least 2 and at most 64, got 0"),
        (lambda: DualModels(selectors=1), "`selectors` must be at least 2 and at most 64, got 1"),
        (lambda: DualModels(selectors=99_999), "`selectors` must be at least 2 and at most 64"),
        (lambda: DualModels(relation="attract"), "unknown `relation` 'attract'; choose from align"),
        (lambda: DualModels(weight=-1), "`weight` must be at least 0, got -1"),
        (lambda: DualModels(cap=0), "`cap` must be above 0, got 0"),
        (
            lambda: DualModels(sparsity=(1.0,)),
            "`sparsity` must be one value for each of 2 selectors, got 1",
        ),
        (
            lambda: DualModels(target_rates=(0.1, 0.1, 0.1)),
            "`target_rates` must be one value for each of 2 selectors, got 3",
        ),
        (lambda: DualModels(sparsity=(1.0, -1.0)), "`sparsity` must be at least 0, got -1"),
        (
            lambda: EntitySettings(dual=DualModels(target_rates=(None, 1.5))),
            "`target_rate` must be between 0.001 and 0.999, .*, got 1.5",
        ),
        (
            lambda: EntitySettings(unit="letter"),
            "unknown `unit` 'letter'; choose from word, subword",
        ),
        (
            lambda: EntitySettings(attention="top"),
            "`attention` must be the number of a layer, or 'mean', got 'top'",
        ),
        (
            lambda: EntitySettings(attention=0),
            "`attention` must be the number of a layer, or 'mean', got 0",
        ),
    ],
)
def test_an_invalid_variant_is_one_line_with_the_rule_and_the_value(make, message):
    with pytest.raises(InputError, match=message) as raised:
        make()
    assert "\n" not in str(raised.value)
