"""What this processor can do: tried, not looked up."""

import contextlib
import faulthandler
import os
import select
import signal
import warnings
from collections.abc import Callable
from functools import cache

import torch

from thresher.encoders.int8_linear import EightBitLinear, Integers

_PATIENCE = 20.0  # seconds; a trial takes some hundredths of one
_GOOD = b"1"
# A virtual processor may speak of instructions that it does not have. Without the newest of them
# nothing here is lost but speed.
_OLDER = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}


@cache
def int8_supported() -> bool:
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
    told, telling = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        child = os.fork()  # the trial waits for no other thread, so it may begin without them
    if child == 0:
        _try(trial, telling)
    os.close(telling)
    ended, _, _ = select.select([told], [], [], _PATIENCE)
    good = bool(ended) and os.read(told, 1) == _GOOD
    os.close(told)
    if not ended:
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # where the system waits for children itself
        os.waitpid(child, 0)
    return good


def _try(trial: Callable[[], bool], telling: int) -> None:
    """Ends the process, and tells of nothing but a trial that came out well."""
    try:
        import resource  # noqa: PLC0415 (only where there is `fork`)

        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        torch.set_num_threads(1)
        with torch.inference_mode():
            if trial():
                os.write(telling, _GOOD)
    finally:
        os._exit(0)
