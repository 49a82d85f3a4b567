"""Training steps: accumulated, fused, compiled and prefetched steps equal plain ones."""

import pytest
import torch
from tests.lm.training.artificial_language import DATA, SETTINGS, changed, start

from thresher.errors import InputError
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.training.batch_loader import BatchLoader, StepWindows
from thresher.lm.training.loop import train
from thresher.lm.training.state import task_for
from thresher.training_processes import Processes

SHORT = {"steps": 12, "evaluate_every": 6, "learning_rate": 1e-2}


def trained(*, causal=True, **settings):
    chosen = changed(**SHORT | settings)
    state = start(chosen, causal=causal)
    train(state, DATA, chosen)
    return state


def assert_same(one, two, **tolerance):
    for name, value in one.model.weights().items():
        torch.testing.assert_close(two.model.weights()[name], value, **tolerance)
    for mine, its in zip(one.log, two.log, strict=True):
        for name in ("training_loss", "validation_loss"):
            assert mine[name] == pytest.approx(its[name], abs=1e-5)
    for role in ROLES:
        if one.roles is not None:
            torch.testing.assert_close(
                getattr(two.roles, role), getattr(one.roles, role), rtol=1e-3, atol=1e-5
            )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("roles", [True, False])
def test_accumulated_batches_equal_one_large_batch(causal, roles):
    large = trained(causal=causal, roles=roles, batch=12, margin="2")
    small = trained(causal=causal, roles=roles, batch=3, accumulate=4, margin="2")
    assert_same(large, small, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("margin", ["inf", "1", "norm:0.5"])
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"precision": "float32"}])
def test_the_fused_loss_equals_the_plain_one(margin, options):
    plain = trained(fused=False, margin=margin, **options)
    fused = trained(fused=True, margin=margin, **options)
    assert fused.model.output.fused
    assert_same(plain, fused, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
def test_a_compiled_model_trains_to_the_same_weights(monkeypatch):
    compiled = []

    def compile_eagerly(function):
        compiled.append(function)
        return torch._dynamo.optimize("eager")(function)

    monkeypatch.setattr(torch, "compile", compile_eagerly)
    assert_same(trained(), trained(compile=True), rtol=1e-4, atol=1e-5)
    assert len(compiled) == 1  # not without the setting


def test_layers_that_cannot_be_fused_or_accumulated_are_errors():
    with pytest.raises(InputError, match="`fused`"):
        start(changed(fused=True), output="gated")
    with pytest.raises(InputError, match="`accumulate`"):
        train(start(output="gated"), DATA, changed(accumulate=2))


@pytest.mark.parametrize("causal", [True, False])
def test_processes_share_the_windows_of_a_step_and_a_thread_reads_the_same(causal):
    settings = changed(batch=5, accumulate=2)
    task = task_for(start(causal=causal).model, settings)
    whole = StepWindows(task, DATA.train, settings).at(3)
    assert [len(batch.input) for batch in whole.batches] == [5, 5]
    parts = [
        StepWindows(task, DATA.train, settings, processes=Processes(rank, 3)).at(3)
        for rank in range(3)
    ]
    assert {part.predicted for part in parts} == {whole.predicted}
    for which in ("input", "target"):
        expected = torch.cat([getattr(batch, which) for batch in whole.batches])
        shared = [getattr(batch, which) for part in parts for batch in part.batches]
        assert torch.equal(torch.cat(shared), expected)
    with pytest.raises(InputError, match=r"a step has 10 windows .* for 11 processes"):
        StepWindows(task, DATA.train, settings, processes=Processes(0, 11))
    windows = StepWindows(task, DATA.train, settings)
    with BatchLoader(windows, torch.device("cpu"), ahead=True) as loader:
        for step in (0, 1, 2, 7, 3):
            found, expected = loader.load(step), windows.at(step)
            assert found.predicted == expected.predicted
            for mine, its in zip(found.batches, expected.batches, strict=True):
                assert torch.equal(mine.input, its.input)
                assert torch.equal(mine.target, its.target)


def test_settings_count_the_windows_of_a_step():
    assert SETTINGS.windows == SETTINGS.batch
    assert changed(batch=3, accumulate=4).windows == 12
    with pytest.raises(InputError, match="`accumulate` must be at least 1"):
        changed(accumulate=0)
