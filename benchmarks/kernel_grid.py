"""Every combination of the kernel's options on a GPU, against float64.

`python -m benchmarks.kernel_grid [part/of]`: the whole grid, or one of several equal parts, so that
several processes can share the compiling. The error of value and gradients must not exceed that of
naive low precision by more than a tolerance. Writes benchmarks/results/kernel/grid.json, or a file
for each part.
"""

import itertools
import json
import math
import sys
from typing import Any

import torch
from torch import Tensor

from benchmarks.kernel import RESULTS
from thresher.lm.kernels import sparse
from thresher.lm.kernels.plan import Plan
from thresher.lm.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.selfish import selfish_cross_entropy

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
PLANS = [Plan(), Plan(recorded_share=1, full_share=0.3, full_slack=0, light_share=0.05)]
TOLERANCE = {torch.bfloat16: 2e-3, torch.float16: 5e-4, torch.float32: 1e-5}


def main(part: int = 0, of: int = 1) -> None:
    """Run the cells of one part, and write how many there were and which failed."""
    cells = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    size = -(-len(cells) // of)
    failed, worst = [], 0.0
    mine = cells[part * size : (part + 1) * size]
    for number, cell in enumerate(mine):
        sparse.PLAN = PLANS[number % len(PLANS)]
        excess = _excess(number, **cell)
        worst = max(worst, excess)
        if not excess <= 1:
            failed.append({name: str(value) for name, value in cell.items()} | {"excess": excess})
    row = {"cells": len(mine), "failed": failed, "worst": worst}
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(row, indent=1) + "\n"
    name = "grid" if of == 1 else f"grid-{part}-of-{of}"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"grid {part}/{of}: {len(mine)} cells, {len(failed)} failed, worst {worst:.2f}")
    print(*failed[:5], sep="\n")


def _excess(
    seed: int,
    *,
    dtype: torch.dtype,
    bias: bool,
    softcap: float | None,
    shape: tuple[int, int, int],
    ignored: int,
    reduction: str,
    margin: float,
) -> float:
    """The largest error of value and gradients, over what is allowed."""
    positions, width, vocabulary = shape
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, device="cuda", generator=generator)

    inputs = [normal(positions, width), 3 * normal(vocabulary, width) / width**0.5]
    inputs = [x.to(dtype) for x in ([*inputs, normal(vocabulary)] if bias else inputs)]
    target = _targets(inputs, normal(positions), softcap)
    target[: min(ignored, positions - 1)] = -100
    options: dict[str, Any] = {"margin": margin, "softcap": softcap, "reduction": reduction}

    def fused(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return linear_selfish_cross_entropy(input, weight, target, bias=bias, **options)

    def naive(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        logits = input @ weight.T if bias is None else input @ weight.T + bias
        return selfish_cross_entropy(logits, target, **options)

    exact = _value_and_gradients(naive, [x.double() for x in inputs])
    rough = _value_and_gradients(naive, inputs)
    found = _value_and_gradients(fused, inputs)
    errors = [
        (mine.double() - true).norm()
        / ((its.double() - true).norm() + TOLERANCE[dtype] * true.norm() + 1e-9)
        for mine, its, true in zip(found, rough, exact, strict=True)
    ]
    return max(float(error.nan_to_num(math.inf)) for error in errors)


def _targets(inputs: list[Tensor], noise: Tensor, softcap: float | None) -> Tensor:
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
    main(*(int(number) for number in (sys.argv[1].split("/") if sys.argv[1:] else [])))
