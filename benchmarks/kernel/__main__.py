"""Measure time, memory and growth of the margin loss from hidden states, on a GPU in bfloat16.

    python -m benchmarks.kernel [part …]

Parts: speed, wide, worst, small, training, growth; by default all of them. Each is written to
benchmarks/results/kernel. Other libraries are measured in the same run if they are installed
(`benchmarks.kernel.peers`).
"""

import json
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.kernel import training as training_run
from benchmarks.kernel.cases import Case, realistic, uniform
from benchmarks.kernel.peers import cross_entropy_losses, margin_losses
from benchmarks.kernel.section import RESULTS
from benchmarks.kernel.timing import machine, measure, parts, product_ms
from thresher.lm.losses.kernels.recorded_statistics import recorded_statistics
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy

MAIN = (8192, 4096, 128_256)
WIDE = (8192, 2304, 256_000)
SMALL = (
    (8192, 512, 32_768),
    (1024, 512, 32_768),
    (128, 512, 32_768),
    (128, 4096, 32_768),
    (16, 4096, 128_256),
)
POSITIONS = (1024, 2048, 4096, 8192, 16_384)
VOCABULARIES = (16_384, 32_768, 65_536, 128_256, 256_000)
FRACTIONS = (0.001, 0.004, 0.016, 0.05, 0.2, 0.6)

Row = dict[str, Any]
ours = partial(linear_selfish_cross_entropy, margin=4.0)


def speed() -> Row:
    """Compare the margin loss and its peers on inputs like those of a trained model."""
    return _compare(realistic(*MAIN), margin_losses() | cross_entropy_losses())


def wide() -> Row:
    """Compare them with a larger vocabulary and a smaller width."""
    return _compare(realistic(*WIDE), margin_losses() | cross_entropy_losses())


def worst() -> Row:
    """Compare them on inputs like those of an untrained model: every token survives."""
    peers = {name: loss for name, loss in cross_entropy_losses().items() if "torch" not in name}
    return _compare(uniform(*MAIN), {"thresher, Triton": ours} | peers)


def training() -> Row:
    """Train a language model; see `benchmarks.kernel.training`."""
    return training_run.run()


def small() -> Row:
    """Compare both implementations on small inputs."""
    rows = []
    for shape in SMALL:
        case = realistic(*shape)
        found = {
            name: measure(partial(ours, implementation=name), case)
            for name in ("triton", "chunked")
        }
        rows.append({"shape": shape, "rows": found})
    return {"shapes": rows}


def growth() -> Row:
    """Measure growth with positions, vocabulary and the fraction of survivors."""
    positions, width, vocabulary = 8192, 2048, 65_536
    return {
        "shape": [positions, width, vocabulary],
        "positions": [_point(realistic(n, width, vocabulary), n) for n in POSITIONS],
        "vocabulary": [_point(realistic(positions, width, v), v) for v in VOCABULARIES],
        "survival": [
            _point(realistic(positions, width, vocabulary, mean=each), each) for each in FRACTIONS
        ],
    }


def _point(case: Case, at: float) -> Row:
    return {"at": at, "survival": survival(case)} | measure(ours, case, repeats=5)


def _compare(case: Case, losses: dict[str, Any]) -> Row:
    row: Row = {
        "shape": [*case.input.shape, len(case.weight)],
        "survival": survival(case),
        "product_ms": product_ms(case),
        "parts": _try(parts, ours, case),
        "rows": {},
    }
    for name, loss in losses.items():
        row["rows"][name] = _try(measure, loss, case)
        print(f"  {name}: {row['rows'][name]}", flush=True)
        torch.cuda.empty_cache()
    return row


def _try(work: Callable[[Any, Case], Row], loss: Any, case: Case) -> Row:
    try:
        return work(loss, case)
    except Exception as error:  # the other losses are still measured
        return {"failed": repr(error)[:300]}


def survival(case: Case) -> Row:
    """Return how survivors of a margin of 4 are distributed over rows, and the kinds of rows."""
    found = recorded_statistics(case.input, case.weight, case.target, margin=4.0)
    return {
        "mean": found.mean_fraction,
        "median": found.median_fraction,
        "held": {str(share): found.held_by_heaviest(share) for share in (0.02, 0.05, 0.1, 0.2)},
        "rows": {"full": found.full, "dense": found.full + found.heavy, "all": len(case.target)},
        "gathered": found.gathered,
    }


PARTS: dict[str, Callable[[], Row]] = {
    "speed": speed,
    "worst": worst,
    "wide": wide,
    "small": small,
    "training": training,
    "growth": growth,
}


def main(names: list[str], folder: Path = RESULTS) -> None:
    """Measure and write each part; print the error of a part that fails and continue."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or PARTS:
        started = time.perf_counter()
        try:
            row = {"machine": machine()} | PARTS[name]()
        except Exception:
            print(f"{name} FAILED\n{traceback.format_exc()}", flush=True)
            continue
        text = json.dumps(row, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
