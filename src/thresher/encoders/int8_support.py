"""Detect whether this CPU computes 8-bit matrix products correctly."""

import os
from functools import cache

import torch

from thresher.encoders.int8_linear import Int8Linear, Quantizer
from thresher.hardware_support import succeeds_in_fork

_WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}


@cache
def int8_supported() -> bool:
    """Return True if 8-bit matrix products are exact on this CPU.

    CPUs without VNNI add pairs of products in 16 bits, which overflows for large values. If the
    first trial fails, it is repeated with oneDNN limited to AVX-512 VNNI, because some virtual
    machines advertise AMX but do not support it. The limit then stays set for this process.
    """
    if not hasattr(os, "fork"):
        return False
    if succeeds_in_fork(int8_products_exact):
        return True
    for name, value in _WITHOUT_AMX.items():
        os.environ.setdefault(name, value)
    return succeeds_in_fork(int8_products_exact)


def int8_products_exact() -> bool:
    """Return True if products of the largest 8-bit integers are summed without overflow."""
    quantize = Quantizer(torch.tensor([[0.0], [1.0]]).expand(2, 128))
    x, ones = torch.ones(64, 128), torch.ones(64, 32)
    try:
        layer = Int8Linear(torch.ones(32, 128), torch.zeros(32), quantize)
        sums = [
            layer(quantize(x)),
            layer.add_to(ones, quantize(x)) - 1,
            layer.gelu(quantize(x), Quantizer(torch.tensor([[0.0], [128.0]]))) * (128 / 255),
        ]
    except (RuntimeError, AttributeError, TypeError):  # torch has no such operation here
        return False
    return all(bool((each - 128).abs().max() < 1e-2) for each in sums)
