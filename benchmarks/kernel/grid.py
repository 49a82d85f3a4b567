"""Compare all combinations of the kernel's options with float64, on a GPU.

    python -m benchmarks.kernel.grid          the whole grid
    python -m benchmarks.kernel.grid 0/4      the first of four equal parts
    python -m benchmarks.kernel.grid 4        all parts in four processes

The error of value and gradients must not exceed the error of a naive computation in the same
precision by more than a tolerance plus the influence of entries on the threshold: rounding may put
these on either side, in the kernel and in the naive computation independently. Writes
benchmarks/results/kernel/grid.json, or one file per part.
"""

import itertools
import json
import math
import subprocess
import sys
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.kernel.section import RESULTS
from thresher.lm.losses.kernels import sparse
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.selfish import selfish_cross_entropy

# Options that change the compiled code come first, so that parts of the grid share little of it.
GRID: dict[str, list[Any]] = {
    "dtype": [torch.bfloat16, torch.float16, torch.float32],
    "bias": [False, True],
    "softcap": [None, 20.0],
    "shape": [(64, 128, 512), (255, 80, 3001), (300, 64, 5000)],
    "ignored": [0, 7, 200],
    "reduction": ["mean", "sum", "none"],
    "margin": [0.5, 2.0, 4.0, 16.0, math.inf],
}
PLANS = [Plan(), Plan(columns=512, recorded_fraction=0.3, light_fraction=0.05)]
ROUNDING = 2**-21  # relative rounding error of a float32 logit of about 10
TOLERANCE = {torch.bfloat16: 2e-3, torch.float16: 5e-4, torch.float32: 1e-5}


def main(part: int = 0, of: int = 1) -> None:
    """Run the cells of one part; write their number and the failed ones."""
    cells = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    size = -(-len(cells) // of)
    failed, worst, on_threshold = [], 0.0, 0
    numbered = list(enumerate(cells))[part * size : (part + 1) * size]
    for number, cell in numbered:
        sparse.PLAN = PLANS[number % len(PLANS)]
        strict, excess = _excesses(number, **cell)
        worst = max(worst, excess)
        on_threshold += strict > 1 >= excess
        if not excess <= 1:
            failed.append({name: str(value) for name, value in cell.items()} | {"excess": excess})
    row = {"cells": len(numbered), "failed": failed, "on_threshold": on_threshold, "worst": worst}
    _write("grid" if of == 1 else f"grid-{part}-of-{of}", row)
    print(f"grid {part}/{of}: {len(numbered)} cells, {len(failed)} failed, worst {worst:.2f}")
    print(*failed[:5], sep="\n")


def run_in_processes(count: int) -> None:
    """Run all parts in processes and merge their files."""
    command = [sys.executable, "-m", "benchmarks.kernel.grid"]
    running = [subprocess.Popen([*command, f"{part}/{count}"]) for part in range(count)]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("a part of the grid failed")
    paths = [RESULTS / f"grid-{part}-of-{count}.json" for part in range(count)]
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    merged = {
        "cells": sum(row["cells"] for row in rows),
        "failed": [cell for row in rows for cell in row["failed"]],
        "on_threshold": sum(row["on_threshold"] for row in rows),
        "worst": max(row["worst"] for row in rows),
    }
    _write("grid", merged)
    for path in paths:
        path.unlink()


def _write(name: str, row: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")


def _excesses(
    seed: int,
    *,
    dtype: torch.dtype,
    bias: bool,
    softcap: float | None,
    shape: tuple[int, int, int],
    ignored: int,
    reduction: str,
    margin: float,
) -> tuple[float, float]:
    """Return the largest ratio of error to allowed error, over the value and the gradients.

    Two ratios: without and with the allowance for entries on the threshold.
    """
    positions, width, vocabulary = shape
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, device="cuda", generator=generator)

    inputs = [normal(positions, width), 3 * normal(vocabulary, width) / width**0.5]
    inputs = [x.to(dtype) for x in ([*inputs, normal(vocabulary)] if bias else inputs)]
    target = _targets(inputs, normal(positions))
    target[: min(ignored, positions - 1)] = -100
    options: dict[str, Any] = {"softcap": softcap, "reduction": reduction}

    def fused(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return linear_selfish_cross_entropy(
            input, weight, target, margin=margin, bias=bias, implementation="triton", **options
        )

    def naive(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, *, margin_shift: float = 0.0
    ) -> Tensor:
        logits = input @ weight.T if bias is None else input @ weight.T + bias
        return selfish_cross_entropy(logits, target, margin=margin + margin_shift, **options)

    exact = [x.double() for x in inputs]
    expected = _value_and_gradients(naive, exact)
    naive_results = _value_and_gradients(naive, inputs)
    results = _value_and_gradients(fused, inputs)
    step = ROUNDING * (exact[0] @ exact[1].T).abs().max().item()
    sides = [_value_and_gradients(partial(naive, margin_shift=by), exact) for by in (-step, step)]
    strict, excess = [], []
    for ours, theirs, right, *both in zip(results, naive_results, expected, *sides, strict=True):
        error = (ours.double() - right).norm()
        allowed = (theirs.double() - right).norm() + TOLERANCE[dtype] * right.norm() + 1e-9
        strict.append(error / allowed)
        excess.append(error / (allowed + (both[0] - both[1]).norm()))
    return _largest(strict), _largest(excess)


def _largest(errors: list[Tensor]) -> float:
    return max(float(error.nan_to_num(math.inf)) for error in errors)


def _targets(inputs: list[Tensor], noise: Tensor) -> Tensor:
    """Draw targets of all ranks, so that rows keep few, some and most of the vocabulary."""
    order = (inputs[0].float() @ inputs[1].float().T).argsort(1, descending=True)
    ranks = (noise.abs() / 3 * order.shape[1]).long().clamp(max=order.shape[1] - 1)
    return order.gather(1, ranks[:, None])[:, 0]


def _value_and_gradients(loss: Any, inputs: list[Tensor]) -> list[Tensor]:
    inputs = [x.detach().requires_grad_() for x in inputs]
    value = loss(*inputs)
    output_gradient = torch.linspace(0.5, 1.5, value.numel(), device="cuda", dtype=value.dtype)
    return [
        value.detach(),
        *torch.autograd.grad(value, inputs, output_gradient.reshape(value.shape)),
    ]


if __name__ == "__main__":
    if sys.argv[1:] and "/" not in sys.argv[1]:
        run_in_processes(int(sys.argv[1]))
    else:
        main(*(int(number) for number in (sys.argv[1].split("/") if sys.argv[1:] else [])))
