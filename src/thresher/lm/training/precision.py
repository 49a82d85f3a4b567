"""Whether a device computes in a precision: tried, in a process that may die of it.

What a CPU says of itself is not enough. Some advertise instructions for bfloat16 that end the
process which uses them.
"""

import subprocess
import sys
from functools import cache

import torch

from thresher.errors import InputError

_TRIAL = """
import torch
from torch.nn import functional
x = torch.randn(256, 256, requires_grad=True)
with torch.autocast("cpu", dtype=torch.{precision}):
    heads = functional.linear(x, torch.randn(256, 256)).view(4, 4, 256, 16)
    mixed = functional.scaled_dot_product_attention(heads, heads, heads)
    loss = functional.layer_norm(mixed.reshape(256, 256), (256,)).pow(3).mean()
loss.backward()
assert x.grad.isfinite().all()
"""


def check_precision(precision: str, device: torch.device | str) -> None:
    """Raise where the device cannot compute in that precision; float32 it always can."""
    if precision == "float32" or torch.device(device).type != "cpu" or _cpu_computes_in(precision):
        return
    raise InputError(f"this CPU cannot compute in {precision}; leave it at float32, or use a GPU")


@cache
def _cpu_computes_in(precision: str) -> bool:
    code = _TRIAL.format(precision=precision)
    tried = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    return tried.returncode == 0
