"""A precision is tried in another process, which may die of it."""

import subprocess
from contextlib import nullcontext

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.training import precision
from thresher.lm.training.precision import check_precision

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture(autouse=True)
def forgotten():
    precision._cpu_computes_in.cache_clear()
    yield
    precision._cpu_computes_in.cache_clear()


def test_a_precision_that_ends_the_process_is_refused(monkeypatch):
    monkeypatch.setattr(precision, "_TRIAL", DIES)
    with pytest.raises(InputError, match="this CPU cannot compute in bfloat16"):
        check_precision("bfloat16", "cpu")


@pytest.fixture
def trials(monkeypatch):
    """The code of each trial; every one succeeds."""
    seen = []

    def run(command, **_):
        seen.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(precision.subprocess, "run", run)
    return seen


def test_one_that_works_is_allowed_and_tried_once(trials):
    for _ in range(2):
        check_precision("bfloat16", torch.device("cpu"))
    assert len(trials) == 1
    assert "dtype=torch.bfloat16" in trials[0]


def test_float32_and_gpus_are_not_tried(trials):
    check_precision("float32", "cpu")
    check_precision("bfloat16", "cuda")
    assert trials == []


def test_the_trial_is_a_step_of_training(monkeypatch):
    """Here in float32, which every CPU has."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    namespace = {}
    exec(precision._TRIAL.format(precision="bfloat16"), namespace)
    assert namespace["x"].grad.abs().sum() > 0
