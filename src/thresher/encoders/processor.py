"""What this processor can do: tried, not looked up."""

import faulthandler
import os
import signal
import time
import warnings
from collections.abc import Callable
from functools import cache

import torch

from thresher.encoders.eight_bits import EightBitLinear, Integers

_PATIENCE = 20.0  # seconds; a trial takes some thousandths of one
# A virtual processor may speak of instructions that it does not have. Without the newest of them
# nothing here is lost but speed.
_OLDER = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}


@cache
def eight_bits_work() -> bool:
    """Whether products in eight bits are right here.

    Older processors add two of them in sixteen bits, which the largest do not fit into. And one
    that is not what it seems ends the process that believes it: so they are tried in another one,
    if need be once more without the newest instructions.
    """
    if not hasattr(os, "fork"):
        return False
    if survives(products_are_right):
        return True
    for name, value in _OLDER.items():
        os.environ.setdefault(name, value)
    return survives(products_are_right)


def products_are_right() -> bool:
    """Whether the largest integers are multiplied and added without losing any."""
    inputs = Integers(torch.tensor([[0.0], [1.0]]).expand(2, 128))
    x, ones = torch.ones(64, 128), torch.ones(64, 32)
    try:
        layer = EightBitLinear(torch.ones(32, 128), torch.zeros(32), inputs)
        sums = [
            layer(inputs(x)),
            layer.added_to(ones, inputs(x)) - 1,
            layer.gelu(inputs(x), Integers(torch.tensor([[0.0], [128.0]]))) * (128 / 255),
        ]
    except (RuntimeError, AttributeError, TypeError):  # torch has no such operation here
        return False
    return all(bool((each - 128).abs().max() < 1e-2) for each in sums)


def survives(trial: Callable[[], bool]) -> bool:
    """Whether a trial in a process of its own comes to a good end, and soon."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        child = os.fork()  # the trial waits for no other thread, so it may begin without them
    if child == 0:
        _try(trial)
    until = time.monotonic() + _PATIENCE
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            until += _PATIENCE
        time.sleep(0.001)


def _try(trial: Callable[[], bool]) -> None:
    """Ends the process: with 0 if the trial comes out well, without a word if it does not."""
    status = 1
    try:
        import resource  # noqa: PLC0415 (only where there is `fork`)

        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        torch.set_num_threads(1)
        with torch.inference_mode():
            status = 0 if trial() else 1
    finally:
        os._exit(status)
