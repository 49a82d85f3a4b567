"""Gates learn the deciding words with every estimator; failures are reported."""

import copy

import numpy as np
import pytest
import torch

from thresher.errors import InputError
from thresher.gates.lagrangian import TermWeight
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import SilentProgress
from thresher.rationales.classifier import GatedEncoder, seeded_classifier
from thresher.rationales.classifier_training import random_parts, train_classifier
from thresher.rationales.corpus import LabelledCorpus, split_by_text
from thresher.rationales.evaluation import selected_word_counts
from thresher.rationales.faithfulness import measure_faithfulness
from thresher.rationales.fit import fit_rationales
from thresher.rationales.inference import text_vectors
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.training import Check, rank_of, train_gates

SMALL = {"hidden": 32, "steps": 80, "checks": 4, "learning_rate": 1e-2}
SHARE = {"sparsity_target": 0.13, "expected_rate": 0.13}


class Notes(SilentProgress):
    def __init__(self):
        self.notes, self.stages = [], {}

    def stage(self, name, total):
        self.stages[name] = [0, total]

        def count(steps):
            self.stages[name][0] += steps

        return count

    def note(self, message):
        self.notes.append(message)


def vectors_of(encoder, texts):
    return encoder.encode(encoder.batch(texts))[encoder.batch(texts).word >= 0].half().numpy()


def classifier_of(bag, learned, gates_at):
    gated_encoder = GatedEncoder(bag, gates_at)
    return train_classifier(
        gated_encoder,
        learned.texts,
        text_vectors(gated_encoder, learned.texts),
        learned.labels,
        label_count=2,
        training=list(range(180)),
        held_out=list(range(180, 200)),
        settings=RationaleSettings(hidden=32),
    )


@pytest.fixture(scope="module")
def classifier(bag, learned):
    return classifier_of(bag, learned, "input")


def corpus_of(data, vectors, prior=None):
    units = UnitIndex.of_words(data.texts)
    return LabelledCorpus(data.texts, vectors, units, data.labels, prior)


def trained(bag, learned, classifier, **given):
    settings = RationaleSettings(**{**SMALL, **SHARE, **given})
    corpus = corpus_of(learned, vectors_of(bag, learned.texts))
    return train_gates(
        GatedEncoder(bag, settings.gates_at),
        corpus,
        classifier,
        training=list(range(160)),
        held_out=list(range(160, 200)),
        settings=settings,
    )


def token_f1(bag, found, data):
    opened = open_probabilities(found.selector, vectors_of(bag, data.texts), bag.device)
    return selected_word_counts(data.gold, split_by_text(opened >= 0.5, data.texts)).f1


def test_a_classifier_predicts_from_whole_texts_and_from_deciding_words(bag, unseen, classifier):
    found = measure_faithfulness(
        GatedEncoder(bag), classifier, unseen.texts, unseen.labels, unseen.gold
    )
    assert found.accuracy > 0.95
    assert found.accuracy_from_rationale > 0.95
    assert found.accuracy_without < 0.7
    assert not any(each.requires_grad for each in classifier.parameters())


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"form": "thresholded"},
        {"form": "thresholded", "estimator": "reinforce"},
        {"form": "thresholded", "estimator": "reinforce", "baseline": "others", "samples": 2},
    ],
    ids=["stretched", "thresholded", "reinforce", "two-samples"],
)
def test_gates_find_the_deciding_words(bag, learned, unseen, classifier, given):
    found = trained(bag, learned, classifier, **given)
    assert token_f1(bag, found, unseen) >= 0.9
    assert found.chosen.kept > 0.9


def test_gates_over_pooled_vectors_find_them_too(bag, learned, unseen):
    pooled = classifier_of(bag, learned, "pool")
    found = trained(bag, learned, pooled, gates_at="pool", form="thresholded", steps=150)
    assert token_f1(bag, found, unseen) >= 0.8


def test_a_frozen_classifier_stays_as_it_was(bag, learned, classifier):
    before = [each.clone() for each in classifier.parameters()]
    trained(bag, learned, classifier, steps=10)
    assert all(torch.equal(a, b) for a, b in zip(before, classifier.parameters(), strict=True))


def test_a_joint_classifier_learns_with_its_gates(bag, learned, unseen):
    new = seeded_classifier(0, bag.width, 2, hidden=32)
    before = new.outer.weight.clone()
    found = trained(bag, learned, new, mode="joint", steps=150)
    assert not torch.equal(before, found.classifier.outer.weight)
    assert found.chosen.kept > 0.9
    assert token_f1(bag, found, unseen) >= 0.8


def test_a_joint_classifier_with_a_head_start_ends_as_well(bag, learned, unseen, classifier):
    found = trained(bag, learned, copy.deepcopy(classifier), mode="joint")
    assert found.chosen.kept > 0.9
    assert token_f1(bag, found, unseen) >= 0.9


def test_the_multiplier_alone_brings_gates_down_to_the_target_rate(bag, learned, classifier):
    found = trained(bag, learned, classifier, steps=120, selection=0.0)
    assert found.checks[0].terms["sparsity"] > 0.2
    assert found.chosen.terms["sparsity"] == pytest.approx(0.13, abs=0.03)
    weights = [each.weights["sparsity"] for each in found.checks]
    assert max(weights) > 1.5  # from 0.5 on


def test_expected_selection_alone_brings_gates_to_its_rate_from_both_sides(
    bag, learned, classifier
):
    for rate in (0.13, 0.6):
        found = trained(
            bag, learned, classifier, steps=120, sparsity=0.0, sparsity_target=None,
            expected_rate=rate, selection=5.0,
        )  # fmt: skip
        assert found.checks[-1].terms["selection"] < 0.05


def test_a_heavier_fixed_weight_selects_fewer_words(bag, learned, classifier):
    light, heavy = (
        trained(
            bag, learned, classifier, steps=60, sparsity=weight, sparsity_target=None,
            expected_rate=None,
        ).chosen.terms["sparsity"]
        for weight in (0.01, 1.0)
    )  # fmt: skip
    assert heavy < light - 0.2


def test_continuity_makes_gates_open_or_close_together(bag, learned, classifier):
    free = {"sparsity": 0.0, "sparsity_target": None, "expected_rate": None, "steps": 40}
    plain = trained(bag, learned, classifier, **free).checks[-1].terms
    held = trained(bag, learned, classifier, **free, continuity=5.0).checks[-1].terms
    assert held["continuity"] < 0.5 * plain["continuity"]


def test_prior_of_words_move_their_gates(bag, learned, classifier):
    """The deciding words are expected out, one filler in: with enough weight the prior wins."""
    flat = [word for words in learned.texts for word in words]
    gold = torch.cat(learned.gold).tolist()
    prior = np.array(
        [
            0.0 if g else 1.0 if word == "soup" else np.nan
            for word, g in zip(flat, gold, strict=True)
        ],
        dtype=np.float32,
    )
    settings = RationaleSettings(**SMALL, selection=20.0, **SHARE)
    vectors = vectors_of(bag, learned.texts)
    found = train_gates(
        GatedEncoder(bag),
        corpus_of(learned, vectors, prior),
        classifier,
        training=list(range(160)),
        held_out=list(range(160, 200)),
        settings=settings,
    )
    opened = open_probabilities(found.selector, vectors, bag.device)
    assert float(opened[torch.tensor(gold)].mean()) < 0.2
    assert float(opened[torch.tensor([word == "soup" for word in flat])].mean()) > 0.8


def test_the_same_seed_gives_the_same_gates(bag, learned, classifier):
    first, second, other = (
        trained(bag, learned, classifier, steps=12, seed=seed).selector.outer.weight
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_checks_are_spread_and_the_last_step_is_one(bag, learned, classifier):
    found = trained(bag, learned, classifier, steps=10)
    assert [each.step for each in found.checks] == [3, 5, 8, 10]
    assert trained(bag, learned, classifier, steps=2, checks=8).checks[-1].step == 2


# Which check is kept


def check(*, task=0.5, selected=0.15, sparsity=0.15, continuity=0.2, step=1):
    terms = {"sparsity": sparsity, "continuity": continuity}
    return Check(step, task, 0.9, selected, terms, {"sparsity": 1.0, "continuity": 0.1})


WEIGHTINGS = {"sparsity": TermWeight(1.0, target=0.15), "continuity": TermWeight(0.1)}


def best(*checks):
    return min(checks, key=lambda each: rank_of(each, WEIGHTINGS))


def test_checks_are_not_ranked_by_terms_with_changing_weights():
    """Open gates have the lowest task loss, and early on the lowest total too: λ was small then."""
    early = check(task=0.1, selected=0.6, sparsity=0.6)
    late = check(task=0.4, sparsity=0.16)
    assert 0.1 + 0.01 * 0.6 < 0.4 + 2.0 * 0.16  # the totals, with λ = 0.01 and then 2
    assert best(early, late) is late


def test_among_checks_on_target_the_task_and_fixed_terms_decide():
    good, bad = check(task=0.3), check(task=0.5)
    ragged = check(task=0.3, continuity=0.9)
    assert best(bad, good, ragged) is good


def test_collapsed_gates_come_last_even_though_they_meet_the_target():
    closed, opened = check(selected=0.0, sparsity=0.0), check(selected=0.5, sparsity=0.5, task=2.0)
    assert best(closed, opened) is opened


# From texts to a fitted model


def fitted(bag, data, progress, **given):
    settings = RationaleSettings(**{**SMALL, "steps": 60, **SHARE, **given})
    return fit_rationales(
        data.texts,
        data.labels,
        bag,
        label_names=("bad", "good"),
        settings=settings,
        progress=progress,
    )


def test_fitting_reports_figures_and_counts_its_work(bag, learned):
    progress = Notes()
    found = fitted(bag, learned, progress)
    assert found.held_out.texts == 20
    assert found.held_out.accuracy > 0.9
    assert found.warnings == tuple(progress.notes) == ()
    assert progress.stages["gates"] == [60, 60]
    assert all(done == total for done, total in progress.stages.values())


def test_gates_that_close_everywhere_are_reported(bag, learned):
    progress = Notes()
    found = fitted(
        bag, learned, progress, checks=1, sparsity=50.0, sparsity_target=None, expected_rate=None
    )
    assert "the gates have collapsed: closed nearly everywhere (0.0%" in found.warnings[0]
    assert progress.notes == list(found.warnings)


def test_gates_that_close_later_are_reported_and_those_before_are_kept(bag, learned):
    given = {"sparsity": 50.0, "sparsity_target": None, "expected_rate": None}
    found = fitted(bag, learned, Notes(), **given, checks=12, steps=120)
    assert found.gates.chosen.step < 120
    assert found.held_out.selected > 0
    assert f"those of step {found.gates.chosen.step} are kept" in found.warnings[0]


def test_gates_that_open_everywhere_are_reported(bag, learned):
    found = fitted(bag, learned, Notes(), sparsity=0.0, sparsity_target=None, expected_rate=None)
    assert "the gates have collapsed: open on most words" in found.warnings[0]


def test_a_classifier_that_learned_nothing_is_reported(bag, learned):
    alike = type(learned)([["the", "soup"]] * 200, learned.labels, [])
    warnings = fitted(bag, alike, Notes(), steps=5).warnings
    assert any(
        "no better than always answering the most frequent label" in each for each in warnings
    )


def test_a_frozen_fit_keeps_the_classifier_s_answers_not_the_labels(bag, learned, classifier):
    """Explaining a classifier to texts with wrong labels gives what right ones give."""
    wrong = 1 - learned.labels
    settings = RationaleSettings(hidden=32, steps=20, **SHARE)
    found = [
        fit_rationales(
            learned.texts, labels, bag, label_names=("bad", "good"), settings=settings,
            classifier=classifier, progress=Notes(),
        ).gates.selector.outer.weight
        for labels in (learned.labels, wrong)
    ]  # fmt: skip
    assert torch.equal(*found)


def test_an_existing_classifier_is_not_trained_on_whole_texts_first(bag, learned, classifier):
    progress = Notes()
    settings = RationaleSettings(mode="joint", hidden=32, steps=2, checks=1, **SHARE)
    fit_rationales(
        learned.texts, learned.labels, bag, label_names=("bad", "good"), settings=settings,
        classifier=copy.deepcopy(classifier), progress=progress,
    )  # fmt: skip
    assert list(progress.stages) == ["words", "gates"]


def test_too_few_texts_and_a_single_label_are_refused(bag, learned):
    few = type(learned)(learned.texts[:19], learned.labels[:19], learned.gold[:19])
    with pytest.raises(InputError, match="19 texts are too few to learn from; give at least 20"):
        fitted(bag, few, Notes())
    with pytest.raises(InputError, match="all texts have the label 'good'; give texts of two"):
        fit_rationales(
            learned.texts, torch.zeros(200, dtype=torch.long), bag, label_names=("good",),
            settings=RationaleSettings(), progress=Notes(),
        )  # fmt: skip


def test_random_parts_keep_any_fraction_of_a_text():
    texts = [["word"] * 200 for _ in range(300)]
    kept = torch.stack(random_parts(texts, torch.Generator().manual_seed(0)))
    shares = kept.mean(1)
    assert set(kept.unique().tolist()) == {0.0, 1.0}
    assert float(shares.min()) < 0.05
    assert float(shares.max()) > 0.95
    assert float(shares.mean()) == pytest.approx(0.5, abs=0.06)
