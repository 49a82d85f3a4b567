"""Every combination of the kernel's options on a GPU, against float64.

`python -m benchmarks.kernel.grid [part/of | processes]`: the whole grid, one of several equal
parts, or all of them in so many processes, which share the compiling. The error of value and
gradients must not exceed that of naive low precision by more than a tolerance and what the entries
are worth that lie on the threshold: these may fall on either side of it, in naive precision too,
and need not fall on the same. Writes benchmarks/results/kernel/grid.json, or a file for each part.
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

# What changes the compiled code comes first: parts of the grid then share little of it.
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
ROUNDING = 2**-21  # of a logit of about 10 in float32, as a share of it
TOLERANCE = {torch.bfloat16: 2e-3, torch.float16: 5e-4, torch.float32: 1e-5}


def main(part: int = 0, of: int = 1) -> None:
    """Run the cells of one part, and write how many there were and which failed."""
    cells = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    size = -(-len(cells) // of)
    failed, worst, on_threshold = [], 0.0, 0
    mine = list(enumerate(cells))[part * size : (part + 1) * size]
    for number, cell in mine:
        sparse.PLAN = PLANS[number % len(PLANS)]
        strict, excess = _excesses(number, **cell)
        worst = max(worst, excess)
        on_threshold += strict > 1 >= excess
        if not excess <= 1:
            failed.append({name: str(value) for name, value in cell.items()} | {"excess": excess})
    row = {"cells": len(mine), "failed": failed, "on_threshold": on_threshold, "worst": worst}
    _write("grid" if of == 1 else f"grid-{part}-of-{of}", row)
    print(f"grid {part}/{of}: {len(mine)} cells, {len(failed)} failed, worst {worst:.2f}")
    print(*failed[:5], sep="\n")


def in_processes(many: int) -> None:
    """All parts at once; their files are put together."""
    command = [sys.executable, "-m", "benchmarks.kernel.grid"]
    running = [subprocess.Popen([*command, f"{part}/{many}"]) for part in range(many)]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("a part of the grid broke off")
    paths = [RESULTS / f"grid-{part}-of-{many}.json" for part in range(many)]
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    together = {
        "cells": sum(row["cells"] for row in rows),
        "failed": [cell for row in rows for cell in row["failed"]],
        "on_threshold": sum(row["on_threshold"] for row in rows),
        "worst": max(row["worst"] for row in rows),
    }
    _write("grid", together)
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
    """The largest error of value and gradients over what is allowed: entries on the threshold are
    held to their side of it, or not.
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
        input: Tensor, weight: Tensor, bias: Tensor | None = None, *, moved: float = 0.0
    ) -> Tensor:
        logits = input @ weight.T if bias is None else input @ weight.T + bias
        return selfish_cross_entropy(logits, target, margin=margin + moved, **options)

    exact = [x.double() for x in inputs]
    true = _value_and_gradients(naive, exact)
    rough = _value_and_gradients(naive, inputs)
    found = _value_and_gradients(fused, inputs)
    step = ROUNDING * (exact[0] @ exact[1].T).abs().max().item()
    sides = [_value_and_gradients(partial(naive, moved=by), exact) for by in (-step, step)]
    strict, excess = [], []
    for mine, its, right, *both in zip(found, rough, true, *sides, strict=True):
        error = (mine.double() - right).norm()
        allowed = (its.double() - right).norm() + TOLERANCE[dtype] * right.norm() + 1e-9
        strict.append(error / allowed)
        excess.append(error / (allowed + (both[0] - both[1]).norm()))
    return _largest(strict), _largest(excess)


def _largest(errors: list[Tensor]) -> float:
    return max(float(error.nan_to_num(math.inf)) for error in errors)


def _targets(inputs: list[Tensor], noise: Tensor) -> Tensor:
    """Tokens of all ranks, so that rows keep few, some and most of the vocabulary."""
    order = (inputs[0].float() @ inputs[1].float().T).argsort(1, descending=True)
    ranks = (noise.abs() / 3 * order.shape[1]).long().clamp(max=order.shape[1] - 1)
    return order.gather(1, ranks[:, None])[:, 0]


def _value_and_gradients(loss: Any, inputs: list[Tensor]) -> list[Tensor]:
    inputs = [x.detach().requires_grad_() for x in inputs]
    value = loss(*inputs)
    outside = torch.linspace(0.5, 1.5, value.numel(), device="cuda", dtype=value.dtype)
    return [value.detach(), *torch.autograd.grad(value, inputs, outside.reshape(value.shape))]


if __name__ == "__main__":
    if sys.argv[1:] and "/" not in sys.argv[1]:
        in_processes(int(sys.argv[1]))
    else:
        main(*(int(number) for number in (sys.argv[1].split("/") if sys.argv[1:] else [])))
