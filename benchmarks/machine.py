"""What a measurement depends on besides its settings: the machine, the memory, the code."""

import hashlib
import platform
import resource
from collections.abc import Iterable
from pathlib import Path

import torch


def machine_name() -> str:
    """Return the name of the GPU, or the architecture of the CPU; without spaces."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name().replace(" ", "-")
    return f"{platform.machine()}-CPU"


def peak_memory() -> dict[str, float]:
    """Return the peak memory of this process so far, in GB; and that of the GPU if there is one."""
    peaks = {"peak_ram_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)}
    if torch.cuda.is_available():
        peaks["peak_gpu_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    return peaks


def digest(paths: Iterable[Path]) -> str:
    """Return ten hexadecimal digits that change when one of the files changes."""
    hashed = hashlib.sha256()
    for path in paths:
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:10]
