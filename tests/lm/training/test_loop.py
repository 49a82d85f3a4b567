"""The training loop: it learns, it can be stopped and resumed, and it reports divergence."""

import math

import pytest
import torch
from tests.lm.training.artificial_language import (
    COUNTS,
    DATA,
    LANGUAGE,
    SETTINGS,
    VOCABULARY,
    changed,
    start,
)
from torch.nn import functional

from thresher.errors import InputError, TrainingError
from thresher.lm.losses.rare_tokens import rare_token_adjustment
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.training.batches import WeightedPart
from thresher.lm.training.loop import train
from thresher.lm.training.state import TrainingData, TrainingState, task_for


@pytest.mark.parametrize("margin", ["inf", "2", "4"])
def test_a_model_reaches_the_best_possible_loss(margin):
    settings = changed(steps=250, batch=16, learning_rate=1e-2, evaluate_every=50, margin=margin)
    state = start(settings)
    train(state, DATA, settings)
    assert state.log[0]["validation_loss"] > state.best_loss
    assert state.best_loss == min(row["validation_loss"] for row in state.log)
    # Three tokens are equally likely, and a margin keeps the others only e^−margin below them.
    assert math.log(3) - 0.05 < state.best_loss < math.log(3 + 9 * math.exp(-float(margin))) + 0.12


@pytest.mark.parametrize("margin", ["2:6", "norm:0.5", "top-p:0.9"])
def test_every_kind_of_margin_trains(margin):
    settings = changed(steps=60, batch=16, learning_rate=1e-2, evaluate_every=20, margin=margin)
    plain = changed(**{**settings.__dict__, "margin": "inf"})
    state, other = start(settings), start(plain)
    train(state, DATA, settings)
    train(other, DATA, plain)
    assert state.best_loss < 0.95 * math.log(VOCABULARY)
    assert state.best_loss != other.best_loss


def test_a_masked_model_learns_from_visible_tokens():
    ids = (5 * torch.arange(75) % VOCABULARY).repeat_interleave(
        40
    )  # a hidden token is nearly always the one beside it
    data = TrainingData(ids[:2500], ids[2500:], torch.bincount(ids[:2500], minlength=VOCABULARY))
    settings = changed(steps=150, batch=16, learning_rate=1e-2, evaluate_every=50)
    state = start(settings, causal=False)
    train(state, data, settings)
    assert state.best_loss < 0.3 * math.log(VOCABULARY)


def test_the_best_model_is_kept_if_later_ones_are_worse():
    # With a rate this high and no decay, later evaluations are worse than the best.
    settings = changed(steps=40, learning_rate=0.3, final_share=1.0, warm_up=0, evaluate_every=2)
    state = start(settings)
    seen = {}
    train(
        state, DATA, settings, after_evaluation=lambda s: seen.update({s.step: s.model.weights()})
    )
    assert state.best_step < 40
    for name, value in seen[state.best_step].items():
        assert torch.equal(value, state.model.weights()[name])


def test_training_does_not_change_the_global_random_state():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(start(dropout=0.5), DATA, SETTINGS)
    assert torch.equal(torch.rand(3), expected)


def test_a_loss_that_becomes_nan_is_an_error_and_the_best_model_is_kept():
    settings = changed(steps=60, evaluate_every=4)
    state = start(settings)
    sane = {}

    def break_weights_at_step_20(state):
        if state.step == 20:
            sane.update(state.best)
            with torch.no_grad():
                state.model.transformer.norm.weight[0] = math.nan

    with pytest.raises(TrainingError, match="training loss became NaN by step 24; try a lower"):
        train(state, DATA, settings, after_evaluation=break_weights_at_step_20)
    assert state.best_step == 20
    for name, value in state.best.items():
        assert torch.equal(value, sane[name])
        assert value.isfinite().all()


def test_progress_has_step_loss_speed_and_time_left():
    reports = []
    train(start(changed(steps=25)), DATA, changed(steps=25), on_progress=reports.append)
    assert [each.step for each in reports] == [4, 8, 10, 12, 16, 20, 24, 25]
    assert all(each.steps == 25 and 0 < each.loss < 5 for each in reports)
    assert all(each.tokens_per_second > 0 for each in reports)
    assert reports[-1].seconds_left == 0 < reports[0].seconds_left


def test_a_corpus_that_is_not_longer_than_the_context_is_an_error():
    data = TrainingData(LANGUAGE[:8], LANGUAGE[:8], COUNTS)
    with pytest.raises(InputError, match="8 tokens and must have more than `context`"):
        train(start(), data, SETTINGS)


def test_parts_that_are_too_short_or_do_not_add_up_are_errors():
    short = TrainingData(
        DATA.train, DATA.validation, COUNTS, (WeightedPart(2492, 0.5), WeightedPart(8, 0.5))
    )
    with pytest.raises(InputError, match="8 tokens and must have more than `context`"):
        train(start(), short, SETTINGS)
    other = TrainingData(DATA.train, DATA.validation, COUNTS, (WeightedPart(2400, 1.0),))
    with pytest.raises(InputError, match="`parts` have 2400 tokens in total, but `train` has 2500"):
        train(start(), other, SETTINGS)


def test_a_part_with_a_larger_fraction_is_learned_better():
    # The second half is the same language with other token ids.
    ids = torch.cat([LANGUAGE[:1250] % 6, LANGUAGE[:1250] % 6 + 6])
    settings = changed(steps=40, batch=16, learning_rate=1e-2, evaluate_every=40)

    def losses(first, second):
        data = TrainingData(
            ids, ids, COUNTS, (WeightedPart(1250, first), WeightedPart(1250, second))
        )
        model = train(start(settings), data, settings)
        task = task_for(model, settings)
        return [evaluate(model, task, half).loss for half in data.texts()]

    frequent, rare = losses(0.9, 0.1)
    assert frequent < rare
    assert losses(0.1, 0.9)[1] < rare


@pytest.mark.parametrize(("roles", "rows"), [(True, 4 * 8), (False, None)])
def test_only_masked_tokens_reach_the_output_layer_unless_roles_are_measured(
    roles, rows, monkeypatch
):
    settings = changed(steps=1, roles=roles)
    state, seen, loss = start(settings, causal=False), [], FullSoftmax.loss

    def watched(self, hidden, target, **options):
        seen.append((hidden.shape[:-1].numel(), int((target >= 0).sum())))
        return loss(self, hidden, target, **options)

    monkeypatch.setattr(FullSoftmax, "loss", watched)
    train(state, DATA, settings)
    [(given, hidden)] = seen
    assert 0 < hidden < 4 * 8
    assert given == (rows or hidden)


def test_a_masked_model_is_the_same_whether_roles_are_measured_or_not():
    with_roles, without = (
        train(start(settings, causal=False), DATA, settings).weights()
        for settings in (changed(roles=roles) for roles in (True, False))
    )
    for name, value in with_roles.items():
        torch.testing.assert_close(value, without[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{"roles": False}, {"cosine": 1.0}, {"label_smoothing": 0.1}])
def test_roles_are_measured_only_on_request_and_if_the_loss_allows_it(options):
    assert start().roles is not None
    assert start(changed(**options)).roles is None


def test_the_best_step_is_chosen_with_validation_tokens_tokens():
    settings = changed(steps=4, validation_tokens=40)
    state = start(settings)
    model = train(state, DATA, settings)
    task = task_for(model, settings)
    found = [evaluate(model, task, DATA.validation, limit=limit).loss for limit in (40, None)]
    assert state.best_loss == pytest.approx(found[0])
    assert state.best_loss != pytest.approx(found[1])


def test_the_task_masks_the_fraction_of_the_settings():
    assert task_for(start(causal=False).model, changed(mask_share=0.4)).mask_share == 0.4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_steps_are_computed_in_the_precision_of_the_settings(precision, monkeypatch):
    settings = changed(steps=1, precision=precision)
    state, seen, autocast = start(settings), [], torch.autocast

    def watched(device, **options):
        seen.append((device, options))
        return autocast(device, enabled=False)  # not every CPU supports bfloat16

    monkeypatch.setattr(torch, "autocast", watched)
    train(state, DATA, settings)
    assert seen == ([] if precision == "float32" else [("cpu", {"dtype": torch.bfloat16})])


def test_a_margin_for_a_layer_that_does_not_support_it_is_an_error():
    with pytest.raises(InputError, match="'tree' supports neither `margin` nor `label_smoothing`"):
        start(changed(margin="2"), output="tree", tied=False)


def test_a_budget_makes_rare_tokens_likelier():
    """Independent tokens: the model learns the smoothed frequencies that the adjustment implies."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.multinomial(2.0 ** -torch.arange(5), 4000, replacement=True, generator=generator)
    counts = torch.bincount(ids, minlength=VOCABULARY).clamp(min=1)
    settings = changed(steps=300, batch=16, learning_rate=5e-3, rare_token_budget=0.1)
    state = TrainingState.new(start().model.architecture, settings, counts)
    model = train(state, TrainingData(ids, ids[:500], counts), settings)
    with torch.no_grad():
        p = model.output.all_log_probs(model(ids[:800].view(-1, 8))).mean((0, 1)).softmax(0)
    adjustment = rare_token_adjustment(counts, budget=0.1)
    expected = (counts.log() - adjustment).softmax(0)
    torch.testing.assert_close(p[:5], expected[:5], rtol=0.2, atol=0)
    assert p[4] > 1.2 * counts[4] / counts.sum()


def test_a_budget_is_spent_in_the_second_half_of_training():
    settings = changed(steps=8, evaluate_every=1, rare_token_budget=0.1)
    counts = COUNTS * torch.arange(1, VOCABULARY + 1) ** 2  # some tokens are rare
    state = TrainingState.new(start().model.architecture, settings, counts)
    model, weights = start().model, [state.model.weights()]
    train(state, DATA, settings, after_evaluation=lambda s: weights.append(s.model.weights()))
    for step, row in enumerate(state.log):
        model.load_weights(weights[step])
        batch = task_for(model, settings).training_batch(
            DATA.train, size=settings.windows, seed=settings.seed, step=step
        )
        adjustment = rare_token_adjustment(counts, budget=0.1)
        model.output.adjustment = adjustment if step >= 4 else None
        expected = model.output.loss(model(batch.input), batch.target).item()
        assert row["training_loss"] == pytest.approx(expected, rel=1e-5)
        model.output.adjustment = adjustment
        adjusted = model.output.loss(model(batch.input), batch.target).item()
        assert (adjusted == pytest.approx(expected, rel=1e-3)) is (step >= 4)
    # The best step is chosen by the loss of the logits that were trained.
    losses = [row["validation_loss"] for row in state.log[:4]]
    task = task_for(model, settings)
    for step in range(5, 9):
        model.load_weights(weights[step])
        (batch,) = task.evaluation_batches(DATA.validation, size=999, limit=200)
        logits = model.output.logits(model(batch.input)) + adjustment
        losses.append(functional.cross_entropy(logits.flatten(0, 1), batch.target.flatten()).item())
    assert state.best_loss == pytest.approx(min(losses), rel=1e-5)


def test_an_adjusted_layer_supports_no_budget():
    with pytest.raises(InputError, match="'adjusted' has an adjustment of its own"):
        start(changed(rare_token_budget=0.01), output="adjusted")


def test_cosine_regularisation_spreads_embeddings():
    def crowding(factor):
        settings = changed(steps=60, cosine=factor, learning_rate=1e-2)
        unit = torch.nn.functional.normalize(train(start(settings), DATA, settings).embedding)
        return unit.mean(0).norm().item()

    assert crowding(20.0) < 0.5 * crowding(0.0)
