"""Describe how encoders compute on this machine: their precision and its instruction set."""

import os
import platform
from dataclasses import dataclass

import torch

from thresher.encoders.int8_linear import MAX_WEIGHTS, int8_max_weight

_TITLES = {"AVX512": "AVX-512", "DEFAULT": "no vector instructions"}
_OLDER_THAN_AVX512 = ("SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2")


@dataclass(frozen=True)
class Computation:
    """How a built-in model computes on the CPU of this machine.

    precision: "int8", or "float32" if this CPU has no exact 8-bit products
    max_weight: the largest integer that a weight becomes in int8: 126, 63 or None
    instruction_set: for example "AVX-512 VNNI" or "AVX2"
    """

    precision: str
    max_weight: int | None
    instruction_set: str

    @classmethod
    def on_this_cpu(cls) -> "Computation":
        """Return what this CPU supports, detected by computing 8-bit products."""
        max_weight = int8_max_weight()
        precision = "float32" if max_weight is None else "int8"
        return cls(precision, max_weight, instruction_set())


def instruction_set() -> str:
    """Return the name of the CPU's vector instructions that torch and oneDNN use."""
    name = os.environ.get("ONEDNN_MAX_CPU_ISA", "")  # a limit that users or `int8_max_weight` set
    if name not in _OLDER_THAN_AVX512:
        name = torch.backends.cpu.get_cpu_capability()
    if platform.machine().lower() in ("arm64", "aarch64") and name == "DEFAULT":
        return "NEON"
    title = _TITLES.get(name, name)
    has_vnni = title.startswith("AVX") and int8_max_weight() == MAX_WEIGHTS[0]
    return f"{title} VNNI" if has_vnni and "VNNI" not in title else title
