"""Measure training speed and memory with the shapes of GPT-2, next to nanoGPT.

    python -m benchmarks.training.throughput [--sizes 124M 350M] [--steps 500] [--ids FILE]
        [--nanogpt FOLDER] [--only NAME …] [--output FOLDER]

Every row starts from the same weights and sees the same batches: 16 windows of 1024 tokens in
bfloat16, with a compiled model. The speed is that of the last three quarters of the steps. Needs a
GPU; `--sizes quick` is a tiny model, to try the benchmark on a CPU.
"""

import argparse
import gc
import json
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.training import nanogpt
from thresher.atomic_files import write_file
from thresher.lm.model import Architecture
from thresher.lm.shape import Shape
from thresher.lm.training.batch_loader import BatchLoader, StepBatches, StepWindows
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingState, task_for
from thresher.lm.training.step import TrainingStep

RESULTS = nanogpt.ROOT / "benchmarks" / "results" / "training"
VOCABULARY = 50_304
GPT2 = Shape(context=1024, positions="learned", norm="layer", bias=False)
SHAPES = {
    "124M": replace(GPT2, width=768, layers=12, heads=12),
    "350M": replace(GPT2, width=1024, layers=24, heads=16),
    "quick": replace(GPT2, width=32, layers=2, heads=2, context=64),
}
SETTINGS = LanguageModelSettings(
    batch=16, learning_rate=6e-4, warm_up=100, precision="bfloat16", compile=True, roles=False
)
NANOGPT = "nanoGPT"
ROWS: dict[str, dict[str, Any]] = {
    NANOGPT: {},
    "standard loss": {"fused": True},
    "margin 4": {"fused": True, "margin": "4"},
    "standard loss, gradients by role": {"fused": True, "roles": True},
    "standard loss, not fused": {"fused": False},
}
_BLOCK = 10  # steps that are timed together

RunStep = Callable[[int, StepBatches], Tensor]


def measure(
    name: str, size: str, ids: Tensor, steps: int, folder: Path, *, device: str
) -> dict[str, Any]:
    """Train one row and return its speed, its peak memory and its losses."""
    quick = size == "quick"
    settings = replace(SETTINGS, steps=steps, **ROWS[name])
    if quick:
        settings = replace(settings, batch=2, precision="float32", compile=False)
        ids = ids % 256
    shape, vocabulary = SHAPES[size], 256 if quick else VOCABULARY
    source = nanogpt.new_model(nanogpt.load(folder), shape, vocabulary, seed=0)
    counts = torch.bincount(ids.long(), minlength=vocabulary)
    state = TrainingState.new(Architecture(vocabulary, shape), settings, counts)
    nanogpt.copy_weights(source, state.model)
    task = task_for(state.model, settings)
    if name == NANOGPT:
        theirs = nanogpt.stepper(source.to(device), settings, device, compiled=not quick)
        del state
        run: RunStep = lambda number, batches: theirs(number, batches.batches)  # noqa: E731
    else:
        del source
        run = _library_step(state, counts, settings, device)
    return _timed(run, StepWindows(task, ids, settings), steps, device) | {
        "name": name,
        "size": size,
        "settings": settings.as_dict(),
    }


def _library_step(
    state: TrainingState, counts: Tensor, settings: LanguageModelSettings, device: str
) -> RunStep:
    """Return a function that runs a step of `lm train` from the weights of a state."""
    weights = state.model.weights()
    moved = TrainingState.new(state.model.architecture, settings, counts, device=device)
    moved.model.load_weights(weights)
    step = TrainingStep(moved, task_for(moved.model, settings), settings)

    def run(number: int, batches: StepBatches) -> Tensor:
        moved.step = number
        return step.run(batches)

    return run


def _timed(run: RunStep, windows: StepWindows, steps: int, device: str) -> dict[str, Any]:
    on_gpu = device.startswith("cuda")
    tokens = windows.settings.windows * windows.task.context
    losses, times = [], []
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    with BatchLoader(windows, torch.device(device)) as loader:
        started = first = time.perf_counter()
        for number in range(steps):
            losses.append(run(number, loader.load(number)))
            if (number + 1) % _BLOCK == 0:
                if on_gpu:
                    torch.cuda.synchronize()
                times.append((time.perf_counter() - started) / _BLOCK)
                started = time.perf_counter()
    later = times[len(times) // 4 :]
    return {
        "tokens_per_second": tokens / median(later),
        "milliseconds_per_step": [1e3 * seconds for seconds in times],
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30 if on_gpu else None,
        "seconds": time.perf_counter() - first,
        "losses": [round(float(loss), 5) for loss in losses],
    }


def main() -> None:
    """Measure the rows that were asked for and write one file for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--sizes", nargs="+", default=["124M", "350M"], choices=SHAPES)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--only", nargs="+", default=list(ROWS), choices=ROWS)
    parser.add_argument("--nanogpt", type=Path, default=nanogpt.FOLDER)
    parser.add_argument("--ids", type=Path, help="token ids as a .npy file; by default random")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    ids = _ids(given.ids)
    for size in given.sizes:
        for name in given.only:
            try:
                row = measure(name, size, ids, given.steps, given.nanogpt, device=device)
            except Exception:  # the other rows are measured nevertheless
                print(f"{size}, {name}: FAILED\n{traceback.format_exc()}", flush=True)
                continue
            file = f"throughput-{size}-{name}.json".replace(" ", "-").replace(",", "")
            given.output.mkdir(parents=True, exist_ok=True)
            row["machine"] = torch.cuda.get_device_name() if device == "cuda" else "CPU"
            row["torch"] = torch.__version__
            write_file(given.output / file, json.dumps(row, indent=1).encode())
            print(_summary(row), flush=True)
            gc.collect()
            torch.compiler.reset()
            torch.cuda.empty_cache()


def _ids(path: Path | None) -> Tensor:
    """Return token ids: those of a file, or ids with a Zipfian distribution."""
    if path is not None:
        return torch.from_numpy(np.load(path).astype(np.int32))
    weights = 1 / torch.arange(1, VOCABULARY + 1, dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    return torch.multinomial(weights, 1_000_000, replacement=True, generator=draw).int()


def _summary(row: dict[str, Any]) -> str:
    memory = "" if row["peak_gib"] is None else f"{row['peak_gib']:.2f} GiB, "
    return (
        f"{row['size']}, {row['name']}: {row['tokens_per_second']:,.0f} tokens/s, {memory}"
        f"loss {row['losses'][0]:.4f} → {sum(row['losses'][-10:]) / 10:.4f}, "
        f"{row['seconds']:.0f} s"
    )


if __name__ == "__main__":
    main()
