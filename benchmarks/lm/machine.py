"""The device on which rows run, and its settings."""

import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from benchmarks.data import ROOT
from thresher.lm.model import LanguageModel


@dataclass(frozen=True)
class Machine:
    """A device and how it is used.

    precision: bfloat16 on a GPU, float32 on a CPU
    compiled: layers are compiled with torch.compile for training
    """

    device: str
    precision: str
    compiled: bool
    version: str

    @classmethod
    def here(cls, device: str | None, *, compiled: bool, version: str | None) -> "Machine":
        """Return this machine; the device is by default the GPU, if there is one."""
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        precision = "bfloat16" if device.startswith("cuda") else "float32"
        return cls(device, precision, compiled, version or _git_version())

    def about(self) -> dict[str, Any]:
        """Return what is recorded with a result."""
        on_gpu = self.device.startswith("cuda")
        return {
            "device": torch.cuda.get_device_name() if on_gpu else platform.processor() or "CPU",
            "precision": self.precision,
            "compiled": self.compiled,
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "python": platform.python_version(),
            "version": self.version,
        }

    def prepare(self, *, threads: int | None = None) -> None:
        """Apply settings of torch to the whole process."""
        if threads is not None:
            torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("high")  # TF32, if the GPU supports it
        if self.compiled:
            torch._dynamo.config.suppress_errors = True  # what cannot be compiled runs uncompiled
            torch._dynamo.config.cache_size_limit = 64  # rows of different shapes share a process

    def wait(self) -> None:
        """Wait until the device has finished."""
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()


def compile_layers(model: LanguageModel) -> None:
    """Compile the layers for training; evaluation has other shapes and stays uncompiled."""
    for layer in model.transformer.layers:
        forward = type(layer).forward
        layer.forward = _compiled_in_training(layer, forward, _compiled(forward))


@cache
def _compiled(forward: Any) -> Any:
    return torch.compile(forward, dynamic=False)


def _compiled_in_training(layer: torch.nn.Module, forward: Any, fast: Any) -> Any:
    return lambda *inputs: (fast if layer.training else forward)(layer, *inputs)


def _git_version() -> str:
    try:
        out = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return out.stdout.strip()
