"""Detect what this CPU can compute by running a small trial in a child process.

CPU flags are not reliable, above all in virtual machines: a CPU may advertise instructions that end
the process which uses them. In a child process, an illegal instruction ends only the child.
"""

import contextlib
import faulthandler
import os
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import torch

from thresher.errors import InputError

_TIMEOUT = 20.0  # seconds; a trial in a forked process takes some hundredths of a second

_TRAINING_STEP = """
import torch
from torch.nn import functional
x = torch.randn(256, 256, requires_grad=True)
with torch.autocast("cpu", dtype=torch.{dtype}):
    heads = functional.linear(x, torch.randn(256, 256)).view(4, 4, 256, 16)
    mixed = functional.scaled_dot_product_attention(heads, heads, heads)
    loss = functional.layer_norm(mixed.reshape(256, 256), (256,)).pow(3).mean()
loss.backward()
assert x.grad.isfinite().all()
"""


def check_dtype_supported(dtype: str, device: torch.device | str) -> None:
    """Raise an InputError if the device cannot train in that dtype."""
    if not dtype_supported(dtype, device):
        raise InputError(f"this CPU cannot compute in {dtype}; use float32, or a GPU")


def dtype_supported(dtype: str, device: torch.device | str) -> bool:
    """Return True if the device can train with autocast to that dtype.

    float32 works everywhere and GPUs are not checked, because torch reports their errors.

    dtype: its name in torch, for example "bfloat16"
    """
    return dtype == "float32" or torch.device(device).type != "cpu" or _cpu_trains_in(dtype)


@cache
def _cpu_trains_in(dtype: str) -> bool:
    """Run one training step in a new Python process.

    A forked process would not work: torch cannot compute gradients in one if its parent has already
    computed gradients on a GPU.
    """
    code = _TRAINING_STEP.format(dtype=dtype)
    trial = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    return trial.returncode == 0


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread inside the `with` block.

    For many small operations, such as loading a model, further threads mostly wait, and keep a core
    busy while they do.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def result_of_fork(trial: Callable[[], int]) -> int:
    """Return what `trial` returns in a forked process, 0 if that crashes or takes too long.

    This is much faster than a new Python process, which would have to import torch again. The
    trial must not compute gradients. Without `os.fork` (on Windows) the result is 0.

    trial: returns a number from 0 to 255
    """
    if not hasattr(os, "fork"):
        return 0
    receiver, sender = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        child = os.fork()  # safe with threads, because the trial waits for none of them
    if child == 0:
        _run_in_child(trial, sender)
    os.close(sender)
    ended, _, _ = select.select([receiver], [], [], _TIMEOUT)
    result = os.read(receiver, 1) if ended else b""  # empty if the child ended without a result
    os.close(receiver)
    if not ended:
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # the system may have reaped the child already
        os.waitpid(child, 0)
    return result[0] if result else 0


def _run_in_child(trial: Callable[[], int], sender: int) -> None:
    """Run the trial, write its result to the pipe, and end the process without any output."""
    try:
        import resource  # noqa: PLC0415 (does not exist on Windows)

        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        torch.set_num_threads(1)
        with torch.inference_mode():
            os.write(sender, bytes([trial()]))
    finally:
        os._exit(0)
