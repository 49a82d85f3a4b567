"""What a processor can do is tried where failing harms nobody."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from thresher.encoders import int8_support as processor
from thresher.encoders.int8_linear import EightBitLinear
from thresher.encoders.int8_support import int8_supported, products_are_right, survives


@pytest.fixture(autouse=True)
def untried(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    int8_supported.cache_clear()
    yield
    int8_supported.cache_clear()


def test_a_trial_survives_if_it_says_so():
    assert survives(lambda: True)
    assert not survives(lambda: False)


@pytest.mark.parametrize("end", [signal.SIGILL, signal.SIGSEGV])
def test_a_trial_that_ends_its_process_ends_no_other(end, capfd):
    assert not survives(lambda: os.kill(os.getpid(), end))
    assert capfd.readouterr().err == ""


def test_a_trial_that_raises_has_failed_without_a_word(capfd):
    assert not survives(lambda: 1 / 0 > 0)
    assert capfd.readouterr().err == ""


def test_a_trial_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(processor, "_PATIENCE", 0.1)
    assert not survives(lambda: time.sleep(60) is None)


def test_a_trial_runs_after_threads_have_worked():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x = torch.ones(600, 600)
        assert (x @ x).sum() > 0
        assert survives(products_are_right) == products_are_right()
    finally:
        torch.set_num_threads(threads)


def test_no_process_is_left_behind(monkeypatch):
    begun = []

    def fork(original=os.fork):
        begun.append(original())
        return begun[-1]

    monkeypatch.setattr(os, "fork", fork)
    survives(lambda: True)
    with pytest.raises(ChildProcessError):
        os.waitpid(begun[0], os.WNOHANG)


def test_a_trial_is_heard_where_the_system_waits_for_children_itself():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert survives(lambda: True)
        assert not survives(lambda: False)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_processor_that_is_not_what_it_seems_is_asked_for_less(monkeypatch):
    def dies_of_new_instructions():
        if os.environ.get("ONEDNN_MAX_CPU_ISA") != "AVX512_CORE_VNNI":
            os.kill(os.getpid(), signal.SIGILL)
        return True

    monkeypatch.setattr(processor, "products_are_right", dies_of_new_instructions)
    assert int8_supported()


def test_nothing_is_asked_for_where_all_is_well(monkeypatch):
    monkeypatch.setattr(processor, "products_are_right", lambda: True)
    before = dict(os.environ)
    assert int8_supported()
    assert os.environ == before


@pytest.mark.parametrize("operation", ["__call__", "added_to", "gelu"])
def test_products_that_are_lost_are_noticed(monkeypatch, operation):
    if not products_are_right():
        pytest.skip("this processor cannot")
    right = getattr(EightBitLinear, operation)
    monkeypatch.setattr(EightBitLinear, operation, lambda *given: right(*given).clamp(max=100))
    assert not products_are_right()


def test_where_torch_has_no_such_products_they_do_not_work(monkeypatch):
    def missing(*given):
        raise AttributeError("no such operation")

    monkeypatch.setattr(EightBitLinear, "__init__", missing)
    assert not products_are_right()


ELSEWHERE = """
import os, sys
import torch
del os.fork
sys.modules["resource"] = None
from thresher.encoders.int8_support import int8_supported
print(int8_supported())
"""


def test_a_system_without_such_processes_can_still_ask():
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.stdout == "False\n", ran.stderr
