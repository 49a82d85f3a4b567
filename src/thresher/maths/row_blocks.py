"""Apply a function of rows to blocks of one size, so that a row's result never depends on others.

Matrix libraries choose their algorithm by the shape of a product, and algorithms round differently.
With one shape for all products, the score of a word is the same in any batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

ROWS_PER_BLOCK = 128  # fits into a CPU cache, and costs little if only a few rows are needed


def in_row_blocks(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """Equal to `function(*inputs)`, up to rounding; each row depends on one row of the inputs.

    function: from inputs, (rows, any) each, to (rows, any), each row by itself
    On a GPU and while gradients are recorded, all rows are computed at once.
    """
    rows = len(inputs[0])
    if inputs[0].device.type != "cpu" or torch.is_grad_enabled() or not rows:
        return function(*inputs)
    padding = -rows % ROWS_PER_BLOCK
    padded = [functional.pad(each, (0, 0, 0, padding)) for each in inputs]
    blocks = [torch.split(each, ROWS_PER_BLOCK) for each in padded]
    return torch.cat([function(*block) for block in zip(*blocks, strict=True)])[:rows]
