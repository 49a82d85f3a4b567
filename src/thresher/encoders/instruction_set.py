"""The vector instructions with which encoders compute on this machine."""

import os
import platform

import torch

from thresher.encoders.int8_linear import MAX_WEIGHTS, int8_max_weight

_TITLES = {"AVX512": "AVX-512", "DEFAULT": "no vector instructions"}
_OLDER_THAN_AVX512 = ("SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2")


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
