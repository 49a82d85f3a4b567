"""Training: it learns, it can be stopped anywhere, and it says when it has gone wrong."""

import json
import math
import tracemalloc
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open

from thresher.errors import InputError
from thresher.lm.model import Architecture
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.training.batches import Part
from thresher.lm.training.checkpoints import load_checkpoint, run_mark, save_checkpoint
from thresher.lm.training.loop import DivergedError, TrainingData, TrainingState, task_of, train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.transformer import Shape

V = 12
# A made-up language: each token is followed by one of three, so ln 3 is the best loss there is.
_START = torch.Generator().manual_seed(0)
_STEPS = torch.randint(3, (3000,), generator=_START)
LANGUAGE = (torch.cumsum(_STEPS * 2 + 1, 0)) % V
COUNTS = torch.bincount(LANGUAGE[:2500], minlength=V)
DATA = TrainingData(LANGUAGE[:2500], LANGUAGE[2500:], COUNTS)
SETTINGS = LanguageModelSettings(
    steps=12, batch=4, warm_up=3, evaluate_every=4, learning_rate=3e-3, validation_tokens=200
)


def start(settings=SETTINGS, *, causal=True, output="full", tied=True, dropout=0.0):
    shape = Shape(width=16, heads=2, layers=2, context=8, causal=causal, dropout=dropout)
    return TrainingState.new(Architecture(V, shape, output, tied), settings, COUNTS)


def changed(**options):
    return LanguageModelSettings(**{**SETTINGS.__dict__, **options})


@pytest.mark.parametrize("margin", ["inf", "2", "4"])
def test_a_model_learns_all_there_is_to_learn(margin):
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
    assert state.best_loss < 0.95 * math.log(V)
    assert state.best_loss != other.best_loss


def test_a_masked_model_learns_from_what_it_sees():
    ids = (5 * torch.arange(75) % V).repeat_interleave(
        40
    )  # a hidden token is nearly always the one beside it
    data = TrainingData(ids[:2500], ids[2500:], torch.bincount(ids[:2500], minlength=V))
    settings = changed(steps=150, batch=16, learning_rate=1e-2, evaluate_every=50)
    state = start(settings, causal=False)
    train(state, data, settings)
    assert state.best_loss < 0.3 * math.log(V)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"dropout": 0.3}, {"margin": "2"}),
        ({"causal": False, "tied": False}, {"margin": "1:3"}),
        ({"output": "gated"}, {"decay_embeddings": False}),
        ({"output": "noise-contrastive", "tied": False}, {}),
    ],
)
def test_a_stopped_run_goes_on_to_the_very_same_result(tmp_path, options, settings):
    settings = changed(**settings)
    whole = start(settings, **options)
    train(whole, DATA, settings)

    path = tmp_path / "checkpoint.safetensors"
    stopped = start(settings, **options)
    mark = run_mark(stopped, DATA, settings)

    def stop_at_eight(state):
        save_checkpoint(path, state, mark)
        if state.step == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(stopped, DATA, settings, after_evaluation=stop_at_eight)
    torch.manual_seed(99)  # whatever happened in between
    resumed = start(settings, **options)
    load_checkpoint(path, resumed, mark)
    assert resumed.step == 8
    train(resumed, DATA, settings)
    for name, value in whole.model.weights().items():
        assert torch.equal(value, resumed.model.weights()[name]), name
    assert (whole.best_step, whole.best_loss) == (resumed.best_step, resumed.best_loss)
    for one, two in zip(whole.log, resumed.log, strict=True):
        assert one | {"tokens_per_second": 0} == pytest.approx(
            two | {"tokens_per_second": 0}, rel=0, abs=0, nan_ok=True
        )
    assert (whole.roles is None) is (options.get("output") == "noise-contrastive")
    if whole.roles is not None:
        assert all(torch.equal(getattr(whole.roles, r), getattr(resumed.roles, r)) for r in ROLES)


def test_the_best_model_is_kept_though_later_ones_are_worse():
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


def test_training_leaves_torchs_random_numbers_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train(start(dropout=0.5), DATA, SETTINGS)
    assert torch.equal(torch.rand(3), expected)


def test_a_loss_that_is_no_number_is_told_and_the_best_model_kept():
    settings = changed(steps=60, evaluate_every=4)
    state = start(settings)
    sane = {}

    def spoil_after_twenty(state):
        if state.step == 20:
            sane.update(state.best)
            with torch.no_grad():
                state.model.transformer.norm.weight[0] = math.nan

    with pytest.raises(DivergedError, match="training loss is nan by step 24; a lower learning"):
        train(state, DATA, settings, after_evaluation=spoil_after_twenty)
    assert state.best_step == 20
    for name, value in state.best.items():
        assert torch.equal(value, sane[name])
        assert value.isfinite().all()


def test_progress_tells_step_loss_speed_and_time_left():
    told = []
    train(start(changed(steps=25)), DATA, changed(steps=25), on_progress=told.append)
    assert [each.step for each in told] == [4, 8, 10, 12, 16, 20, 24, 25]
    assert all(each.steps == 25 and 0 < each.loss < 5 for each in told)
    assert all(each.tokens_per_second > 0 for each in told)
    assert told[-1].seconds_left == 0 < told[0].seconds_left


@pytest.mark.parametrize(
    "other",
    [
        lambda: (start(changed(seed=1)), DATA, changed(seed=1)),
        lambda: (start(tied=False), DATA, SETTINGS),
        lambda: (start(), TrainingData(DATA.train[1:], DATA.validation, COUNTS), SETTINGS),
        lambda: (start(), replace(DATA, parts=(Part(1000, 0.5), Part(1500, 0.5))), SETTINGS),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, other):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    save_checkpoint(path, state, run_mark(state, DATA, SETTINGS))
    state, data, settings = other()
    with pytest.raises(InputError, match="begun with other text or settings"):
        load_checkpoint(path, state, run_mark(state, data, settings))


def test_a_run_is_marked_without_a_copy_of_its_tokens():
    state, long = start(), TrainingData(torch.zeros(2**20).long(), DATA.validation, COUNTS)
    tracemalloc.start()
    run_mark(state, long, SETTINGS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20  # of 2²³ bytes


def test_a_broken_checkpoint_is_refused_and_a_missing_one_starts_anew(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    load_checkpoint(path, state, "mark")
    assert state.step == 0
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot resume"):
        load_checkpoint(path, state, "mark")


def test_a_checkpoint_is_tensors_and_plain_text(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    state = start()
    train(state, DATA, SETTINGS)
    save_checkpoint(path, state, "mark")
    with safe_open(path, framework="pt") as file:
        numbers = json.loads(file.metadata()["numbers"])
    assert numbers["step"] == 12
    assert len(numbers["log"]) == 3
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_corpus_shorter_than_the_context_is_an_error():
    data = TrainingData(LANGUAGE[:8], LANGUAGE[:8], COUNTS)
    with pytest.raises(InputError, match="8 tokens, no more than the context of 8"):
        train(start(), data, SETTINGS)


def test_a_part_shorter_than_the_context_or_parts_of_another_row_are_errors():
    short = TrainingData(DATA.train, DATA.validation, COUNTS, (Part(2492, 0.5), Part(8, 0.5)))
    with pytest.raises(InputError, match="8 tokens, no more than the context of 8"):
        train(start(), short, SETTINGS)
    other = TrainingData(DATA.train, DATA.validation, COUNTS, (Part(2400, 1.0),))
    with pytest.raises(InputError, match="parts of 2400 tokens make no row of 2500"):
        train(start(), other, SETTINGS)


def test_a_part_is_learned_by_its_share():
    # The second half of the row is the same language by other names, and read one time in ten.
    ids = torch.cat([LANGUAGE[:1250] % 6, LANGUAGE[:1250] % 6 + 6])
    settings = changed(steps=40, batch=16, learning_rate=1e-2, evaluate_every=40)

    def losses(first, second):
        data = TrainingData(ids, ids, COUNTS, (Part(1250, first), Part(1250, second)))
        model = train(start(settings), data, settings)
        task = task_of(model, settings)
        return [evaluate(model, task, half).loss for half in data.texts()]

    often, seldom = losses(0.9, 0.1)
    assert often < seldom
    assert losses(0.1, 0.9)[1] < seldom


@pytest.mark.parametrize(("roles", "rows"), [(True, 4 * 8), (False, None)])
def test_only_hidden_tokens_reach_the_output_layer_unless_roles_are_measured(
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
def test_roles_are_measured_only_where_asked_for_and_where_the_loss_allows(options):
    assert start().roles is not None
    assert start(changed(**options)).roles is None


def test_a_model_is_chosen_by_as_many_validation_tokens_as_the_settings_say():
    settings = changed(steps=4, validation_tokens=40)
    state = start(settings)
    model = train(state, DATA, settings)
    task = task_of(model, settings)
    found = [evaluate(model, task, DATA.validation, limit=limit).loss for limit in (40, None)]
    assert state.best_loss == pytest.approx(found[0])
    assert state.best_loss != pytest.approx(found[1])


def test_as_many_tokens_are_hidden_as_the_settings_say():
    assert task_of(start(causal=False).model, changed(mask_share=0.4)).mask_share == 0.4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_steps_are_computed_in_the_precision_of_the_settings(precision, monkeypatch):
    settings = changed(steps=1, precision=precision)
    state, seen, autocast = start(settings), [], torch.autocast

    def watched(device, **options):
        seen.append((device, options))
        return autocast(device, enabled=False)  # not every CPU has the other one

    monkeypatch.setattr(torch, "autocast", watched)
    train(state, DATA, settings)
    assert seen == ([] if precision == "float32" else [("cpu", {"dtype": torch.bfloat16})])


def test_a_layer_without_a_margin_says_so():
    with pytest.raises(InputError, match="'tree' has neither margin nor label smoothing"):
        start(changed(margin="2"), output="tree", tied=False)


def test_cosine_regularisation_spreads_embeddings():
    def crowding(factor):
        settings = changed(steps=60, cosine=factor, learning_rate=1e-2)
        unit = torch.nn.functional.normalize(train(start(settings), DATA, settings).embedding)
        return unit.mean(0).norm().item()

    assert crowding(20.0) < 0.5 * crowding(0.0)
