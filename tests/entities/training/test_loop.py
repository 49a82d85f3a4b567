import copy
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.tiny_encoder import random_sentences

from thresher.entities.evaluation import word_average_precision
from thresher.entities.training.loop import TrainingCorpus, steps_per_epoch, train_selectors
from thresher.entities.training.run import load_checkpoint, save_checkpoint
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, TrainingState
from thresher.errors import TrainingError
from thresher.gates.objective import agreement
from thresher.gates.selector import seeded_selector
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.text.indexed_sentences import IndexedSentences

QUICK = {"hidden": 16, "epochs": 3, "sentences_per_batch": 8}
TOY = {"hidden": 16, "sentences_per_batch": 10, "learning_rate": 1e-2, "contrast": 0.0}
CONTRAST = {**QUICK, "contrast": 0.3, "contrast_share": 0.5}


@pytest.fixture
def corpus(tiny, tmp_path):
    """Forty sentences of made-up words, each one different; the prior knows two thirds of them."""
    rng = np.random.default_rng(0)
    sentences = random_sentences(rng)
    vectors = cache_vectors(tiny, sentences, tmp_path / "vectors.npy")
    prior = rng.choice([0.0, 1.0, np.nan], size=len(vectors)).astype(np.float32)
    tiny.read.clear()
    return TrainingCorpus(sentences, vectors, UnitIndex.of_words(sentences), prior)


def trained(encoder, corpus, settings, **hooks):
    state = TrainingState.new(settings, encoder.width, encoder.device)
    train_selectors(state, encoder, corpus, settings, **hooks)
    return state


def weights_of(state):
    return torch.cat(
        [each.detach().flatten() for selector in state.selectors for each in selector.parameters()]
    )


def toy(prior, *, words=2000, width=8):
    """Words in sentences of ten, with random vectors and the prior of a function of their labels.

    The labels are what a vector's first number says, with a gap between the classes.
    """
    rng = np.random.default_rng(0)
    labels = rng.random(words) < 0.2
    vectors = rng.normal(size=(words, width)).astype(np.float16)
    vectors[:, 0] = np.where(labels, 2, -2) + 0.3 * vectors[:, 0]
    sentences = [["w"] * 10] * (words // 10)
    prior_values = prior(labels, rng).astype(np.float32)
    return labels, TrainingCorpus(sentences, vectors, UnitIndex.of_words(sentences), prior_values)


# The same seed, the same model


@pytest.mark.parametrize("gates_at", ["input", "pool"])
@pytest.mark.parametrize("form", ["thresholded", "stretched", "continuous"])
def test_the_same_seed_gives_the_same_selector_bit_for_bit(tiny, corpus, form, gates_at):
    settings = EntitySettings(**CONTRAST, form=form, gates_at=gates_at)
    torch.manual_seed(1)
    first = trained(tiny, corpus, settings)
    torch.manual_seed(2)  # the global generator plays no part
    np.random.seed(2)
    assert torch.equal(weights_of(first), weights_of(trained(tiny, corpus, settings)))


@pytest.mark.parametrize(
    ("form", "gates_at", "total", "squares"),
    [
        ("thresholded", "input", 5.12772, 14.77986),
        ("thresholded", "pool", 5.12564, 14.77600),
        ("stretched", "input", 5.12709, 14.78772),
        ("continuous", "pool", 5.12791, 14.78037),
    ],
)
def test_without_variants_training_gives_the_recorded_weights(
    tiny, corpus, form, gates_at, total, squares
):
    """Recorded before there were variants; at the pool since anchors leave out special tokens."""
    weights = weights_of(
        trained(tiny, corpus, EntitySettings(**CONTRAST, form=form, gates_at=gates_at))
    )
    assert float(weights.double().sum()) == pytest.approx(total, abs=2e-4)
    assert float(weights.double().square().sum()) == pytest.approx(squares, abs=2e-4)


def test_another_seed_gives_another_selector(tiny, corpus):
    first, other = (trained(tiny, corpus, EntitySettings(**CONTRAST, seed=seed)) for seed in (0, 1))
    assert not torch.equal(weights_of(first), weights_of(other))


@pytest.mark.parametrize("stop", [1, 2])
@pytest.mark.parametrize("target", [None, 0.2])
def test_a_run_resumed_from_a_copy_of_its_state_equals_one_never_stopped(
    tiny, corpus, stop, target
):
    settings = EntitySettings(**CONTRAST, target_rate=target)
    state = TrainingState.new(settings, tiny.width, tiny.device)
    copies = []
    train_selectors(
        state,
        tiny,
        corpus,
        settings,
        after_epoch=lambda report: copies.append(copy.deepcopy(state)),
    )
    resumed = copies[stop - 1]
    assert resumed.epoch == stop
    assert not torch.equal(weights_of(resumed), weights_of(state))
    reports = []
    train_selectors(resumed, tiny, corpus, settings, after_epoch=reports.append)
    assert [each.epoch for each in reports] == list(range(stop, settings.epochs))
    assert torch.equal(weights_of(resumed), weights_of(state))
    assert resumed.sparsity_weights == state.sparsity_weights


@pytest.mark.parametrize("stop", [1, 4, 5, 8, 13])
def test_a_run_stopped_at_any_step_continues_at_that_step(tiny, corpus, tmp_path, stop):
    """A run of three epochs with five steps each, resumed from a saved checkpoint."""
    settings = EntitySettings(**CONTRAST, target_rate=0.2)
    path = tmp_path / "checkpoint"
    straight = []
    state = trained(tiny, corpus, settings, after_epoch=straight.append)

    stopped = TrainingState.new(settings, tiny.width, tiny.device)
    reports, steps = [], []

    def after_step():
        steps.append(None)
        if len(steps) == stop:
            save_checkpoint(path, stopped, "fingerprint")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_selectors(
            stopped, tiny, corpus, settings, after_step=after_step, after_epoch=reports.append
        )
    resumed = TrainingState.new(settings, tiny.width, tiny.device)
    load_checkpoint(path, resumed, "fingerprint")
    assert (resumed.epoch, resumed.step) == ((stop - 1) // 5, (stop - 1) % 5 + 1)
    more = []
    train_selectors(
        resumed,
        tiny,
        corpus,
        settings,
        after_step=lambda: more.append(None),
        after_epoch=reports.append,
    )
    assert len(more) == 15 - stop
    assert torch.equal(weights_of(resumed), weights_of(state))
    assert reports == straight


def test_a_state_after_all_epochs_is_not_changed(tiny, corpus):
    settings = EntitySettings(**QUICK)
    state = trained(tiny, corpus, settings)
    before = weights_of(state)
    train_selectors(state, tiny, corpus, settings)
    assert torch.equal(weights_of(state), before)


# What is read


def test_every_epoch_reads_each_sentence_once_in_new_batches(tiny, corpus):
    settings = EntitySettings(**{**CONTRAST, "contrast_share": 1.0, "sentences_per_batch": 7})
    trained(tiny, corpus, settings)
    steps = steps_per_epoch(len(corpus.sentences), settings)
    assert len(tiny.read) == settings.epochs * steps == 3 * 6
    epochs = [tiny.read[i : i + steps] for i in range(0, len(tiny.read), steps)]
    everything = Counter(map(tuple, corpus.sentences))
    for epoch in epochs:
        assert max(map(len, epoch)) <= 7
        assert Counter(tuple(words) for batch in epoch for words in batch) == everything
    assert epochs[0] != epochs[1] != epochs[2]


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 0, 0), (0.5, 1, 14), (1.0, 15, 15)])
def test_the_encoder_reads_only_the_batches_that_have_the_contrast(
    tiny, corpus, share, least, most
):
    trained(tiny, corpus, EntitySettings(**{**CONTRAST, "contrast_share": share}))
    assert least <= len(tiny.read) <= most


def test_without_contrast_the_encoder_reads_nothing(tiny, corpus):
    trained(tiny, corpus, EntitySettings(**{**CONTRAST, "contrast": 0.0, "contrast_share": 1.0}))
    assert tiny.read == []


def test_steps_and_epochs_are_counted_and_terms_reported_by_name(tiny, corpus):
    steps, reports = [], []
    settings = EntitySettings(**{**CONTRAST, "contrast_share": 1.0})
    trained(
        tiny,
        corpus,
        settings,
        after_step=lambda: steps.append(1),
        after_epoch=reports.append,
    )
    assert len(steps) == settings.epochs * steps_per_epoch(40, settings) == 15
    assert [each.epoch for each in reports] == [0, 1, 2]
    names = {"agreement", "rationale", "complement", "continuity", "sparsity"}
    assert all(set(each.terms) == names for each in reports)
    assert all(math.isfinite(value) for each in reports for value in each.terms.values())


def test_the_first_report_of_one_batch_is_that_of_the_untrained_selector(tiny, corpus):
    settings = EntitySettings(hidden=16, epochs=1, sentences_per_batch=40, contrast=0.0, seed=5)
    reports = []
    trained(tiny, corpus, settings, after_epoch=reports.append)
    selector = seeded_selector(5, tiny.width, hidden=16, form=settings.form)
    gates = selector(torch.from_numpy(np.asarray(corpus.vectors, dtype=np.float32)))
    expected = agreement(gates, torch.from_numpy(corpus.prior)).item()
    assert reports[0].terms == {"agreement": pytest.approx(expected, rel=1e-5)}
    assert reports[0].selected == (pytest.approx(gates.prob_open().mean().item(), rel=1e-5),)


# What is learned


def test_the_prior_is_learned_and_generalises_to_words_it_does_not_know(tiny):
    labels, corpus = toy(
        lambda labels, rng: np.where(rng.random(len(labels)) < 0.5, labels, np.nan)
    )
    (selector,) = trained(tiny, corpus, EntitySettings(**TOY, epochs=4)).selectors
    with torch.inference_mode():
        scores = selector(torch.from_numpy(corpus.vectors.astype(np.float32))).prob_open().numpy()
    silent = np.isnan(corpus.prior)
    gold = [[(i, i + 1) for i in np.flatnonzero(labels[silent])]]
    assert word_average_precision(gold, [scores[silent]]) > 0.99


ALONE = {"agreement": 0.0, "contrast": 1e-6, "complement": 0.0, "sparsity": 0.0, "continuity": 0.0}


@pytest.mark.parametrize("gates_at", ["input", "pool"])
@pytest.mark.parametrize(
    ("weights", "term", "sign"),
    [
        ({"agreement": 1.0}, "agreement", -1),
        ({"contrast": 1.0}, "rationale", -1),
        ({"contrast": 1.0, "complement": 10.0}, "complement", +1),
        ({"sparsity": 1.0}, "sparsity", -1),
        ({"continuity": 1.0}, "continuity", -1),
    ],
)
def test_each_weight_lowers_its_term_and_the_complement_is_raised(
    tiny, corpus, gates_at, weights, term, sign
):
    options = {**QUICK, **ALONE, **weights, "epochs": 25, "gates_at": gates_at}
    settings = EntitySettings(**options, learning_rate=3e-2, contrast_share=1.0, temperature=0.2)
    reports = []
    trained(tiny, corpus, settings, after_epoch=reports.append)
    assert sign * (reports[-1].terms[term] - reports[0].terms[term]) > 0.05


@pytest.mark.parametrize("form", ["thresholded", "stretched"])
@pytest.mark.parametrize(
    ("target", "epochs", "reached"), [(None, 10, 0.5), (0.1, 20, 0.1), (0.3, 20, 0.3)]
)
def test_the_lagrangian_holds_the_rate_of_open_gates_at_its_target(
    tiny, form, target, epochs, reached
):
    """The prior alone would open every second gate."""
    _, corpus = toy(lambda labels, rng: np.full(len(labels), 0.5))
    reports = []
    settings = EntitySettings(**TOY, form=form, epochs=epochs, target_rate=target)
    trained(tiny, corpus, settings, after_epoch=reports.append)
    assert reports[-1].selected == (pytest.approx(reached, abs=0.03),)


def test_the_weight_of_sparsity_is_fixed_unless_there_is_a_target(tiny, corpus):
    fixed, adapted = [], []
    trained(tiny, corpus, EntitySettings(**CONTRAST), after_epoch=fixed.append)
    trained(tiny, corpus, EntitySettings(**CONTRAST, target_rate=0.1), after_epoch=adapted.append)
    assert {each.sparsity_weights for each in fixed} == {(EntitySettings().sparsity,)}
    assert adapted[0].sparsity_weights > (EntitySettings().sparsity,)


# Collapse


def report_of(selected):
    return EpochReport(epoch=0, terms={}, selected=(selected,), sparsity_weights=(0.0,))


@pytest.mark.parametrize("selected", [0.0, 0.005, 0.61, 1.0])
def test_a_collapse_is_reported_in_one_line_with_advice(selected):
    message = report_of(selected).collapse
    assert message.startswith("the gates have collapsed: ")
    assert f"({selected:.1%} of words selected); try another `sparsity`" in message
    assert "\n" not in message


@pytest.mark.parametrize("selected", [0.01, 0.2, 0.6])
def test_gates_that_select_are_not_reported(selected):
    assert report_of(selected).collapse is None


@pytest.mark.parametrize(
    ("prior", "words"), [(0.0, "closed nearly everywhere"), (1.0, "open on most words")]
)
def test_a_collapse_is_reported_while_training(tiny, prior, words):
    _, corpus = toy(lambda labels, rng: np.full(len(labels), prior))
    reports = []
    trained(tiny, corpus, EntitySettings(**TOY, epochs=15), after_epoch=reports.append)
    assert words in reports[-1].collapse


def test_a_loss_that_is_not_finite_ends_the_training(tiny, corpus):
    with pytest.raises(
        TrainingError, match=r"the loss became (NaN|infinite) in epoch 1; try a lower"
    ):
        trained(
            tiny, corpus, EntitySettings(**{**CONTRAST, "contrast_share": 1.0, "contrast": 1e300})
        )


def test_too_much_sparsity_against_no_prior_closes_every_gate(tiny, corpus):
    silent = replace(corpus, prior=np.full_like(corpus.prior, np.nan))
    reports = []
    settings = EntitySettings(
        **{**CONTRAST, "contrast_share": 1.0, "epochs": 20}, learning_rate=0.1, sparsity=50.0
    )
    trained(tiny, silent, settings, after_epoch=reports.append)
    assert reports[0].collapse is None
    assert "closed nearly everywhere" in reports[-1].collapse


# Input


def test_there_must_be_one_prior_probability_per_word():
    sentences = [["a", "b"], ["c"]]
    vectors, prior_values = np.zeros((3, 8), np.float16), np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="one prior probability per unit: 3 units, got 2"):
        TrainingCorpus(sentences, vectors, UnitIndex.of_words(sentences), prior_values)


def test_indexed_sentences_are_trained_on_like_any_others(corpus, tiny):
    indexed = replace(corpus, sentences=IndexedSentences.from_sentences(corpus.sentences))
    weights = []
    for each in (corpus, indexed):
        state = TrainingState.new(EntitySettings(**CONTRAST), tiny.width, tiny.device)
        train_selectors(state, tiny, each, EntitySettings(**CONTRAST))
        weights.append(weights_of(state))
    assert torch.equal(*weights)
