"""int8 support is detected by a trial product in a child process."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from thresher.encoders import int8_support
from thresher.encoders.int8_linear import Int8Linear
from thresher.encoders.int8_support import int8_products_exact, int8_supported
from thresher.hardware_support import succeeds_in_fork


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    int8_supported.cache_clear()
    yield
    int8_supported.cache_clear()


def test_a_trial_runs_after_threads_have_worked():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x = torch.ones(600, 600)
        assert (x @ x).sum() > 0
        assert succeeds_in_fork(int8_products_exact) == int8_products_exact()
    finally:
        torch.set_num_threads(threads)


def test_a_failed_trial_is_repeated_without_amx(monkeypatch):
    def crash_with_amx():
        if os.environ.get("ONEDNN_MAX_CPU_ISA") != "AVX512_CORE_VNNI":
            os.kill(os.getpid(), signal.SIGILL)
        return True

    monkeypatch.setattr(int8_support, "int8_products_exact", crash_with_amx)
    assert int8_supported()


def test_the_environment_is_unchanged_if_the_first_trial_succeeds(monkeypatch):
    monkeypatch.setattr(int8_support, "int8_products_exact", lambda: True)
    before = dict(os.environ)
    assert int8_supported()
    assert os.environ == before


@pytest.mark.parametrize("operation", ["__call__", "add_to", "gelu"])
def test_overflow_of_each_operation_is_noticed(monkeypatch, operation):
    if not int8_products_exact():
        pytest.skip("this CPU has no exact int8 products")
    right = getattr(Int8Linear, operation)
    monkeypatch.setattr(Int8Linear, operation, lambda *given: right(*given).clamp(max=100))
    assert not int8_products_exact()


def test_int8_is_not_supported_where_torch_lacks_the_operation(monkeypatch):
    def missing(*given):
        raise AttributeError("no such operation")

    monkeypatch.setattr(Int8Linear, "__init__", missing)
    assert not int8_products_exact()


WITHOUT_FORK = """
import os, sys
import torch
del os.fork
sys.modules["resource"] = None
from thresher.encoders.int8_support import int8_supported
print(int8_supported())
"""


def test_int8_is_not_supported_without_fork():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_FORK],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.stdout == "False\n", ran.stderr
