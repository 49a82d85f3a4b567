"""Trial computations run in a child process, so that a crash ends only the child."""

import os
import signal
import subprocess
import time
from contextlib import nullcontext

import pytest
import torch

from thresher import hardware_support
from thresher.errors import InputError
from thresher.hardware_support import check_dtype_supported, dtype_supported, result_of_fork

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture(autouse=True)
def _empty_cache():
    hardware_support._cpu_trains_in.cache_clear()
    yield
    hardware_support._cpu_trains_in.cache_clear()


def test_a_dtype_that_crashes_the_process_is_not_supported(monkeypatch):
    monkeypatch.setattr(hardware_support, "_TRAINING_STEP", CRASH)
    assert not dtype_supported("bfloat16", "cpu")
    with pytest.raises(InputError, match="this CPU cannot compute in bfloat16"):
        check_dtype_supported("bfloat16", "cpu")


@pytest.fixture
def trials(monkeypatch):
    """The code of each trial; every one succeeds."""
    seen = []

    def run(command, **_):
        seen.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(hardware_support.subprocess, "run", run)
    return seen


def test_a_dtype_is_tried_only_once(trials):
    for _ in range(2):
        assert dtype_supported("bfloat16", torch.device("cpu"))
        check_dtype_supported("bfloat16", "cpu")
    assert len(trials) == 1
    assert "dtype=torch.bfloat16" in trials[0]


def test_float32_and_gpus_are_not_tried(trials):
    assert dtype_supported("float32", "cpu")
    assert dtype_supported("bfloat16", "cuda")
    assert trials == []


def test_the_dtype_trial_is_a_training_step(monkeypatch):
    """Run here in float32, which every CPU supports."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    namespace = {}
    exec(hardware_support._TRAINING_STEP.format(dtype="bfloat16"), namespace)
    assert namespace["x"].grad.abs().sum() > 0


def test_a_forked_trial_returns_its_number():
    assert result_of_fork(lambda: 3) == 3
    assert result_of_fork(lambda: 0) == 0


@pytest.mark.parametrize("end", [signal.SIGILL, signal.SIGSEGV])
def test_a_crash_ends_only_the_forked_process(end, capfd):
    assert result_of_fork(lambda: os.kill(os.getpid(), end) or 1) == 0
    assert capfd.readouterr().err == ""


def test_a_forked_trial_that_raises_gives_0_without_output(capfd):
    assert result_of_fork(lambda: 1 // 0) == 0
    assert capfd.readouterr().err == ""


def test_a_forked_trial_is_killed_after_the_timeout(monkeypatch):
    monkeypatch.setattr(hardware_support, "_TIMEOUT", 0.1)
    assert result_of_fork(lambda: time.sleep(60) or 1) == 0


def test_no_process_is_left_behind(monkeypatch):
    begun = []

    def fork(original=os.fork):
        begun.append(original())
        return begun[-1]

    monkeypatch.setattr(os, "fork", fork)
    result_of_fork(lambda: 1)
    with pytest.raises(ChildProcessError):
        os.waitpid(begun[0], os.WNOHANG)


def test_a_forked_trial_works_where_the_system_reaps_children():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert result_of_fork(lambda: 1) == 1
    finally:
        signal.signal(signal.SIGCHLD, before)
