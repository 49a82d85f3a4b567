"""Matrix products of half-precision operands with sums in float32."""

import torch
from torch import Tensor


def product(left: Tensor, right: Tensor, *, out: Tensor) -> Tensor:
    """Compute out = left @ right in float32, for operands of any precision.

    left: (a, b)   right: (b, c)   out: (a, c), float32
    """
    if left.dtype == torch.float32:
        return torch.mm(left, right, out=out)
    if left.is_cuda:
        torch.ops.aten.mm.dtype_out(left, right, torch.float32, out=out)
        return out
    return torch.mm(left.float(), right.float(), out=out)


def add_product(sums: Tensor, left: Tensor, right: Tensor) -> None:
    """Compute sums += left @ right in the dtype of the sums, for operands of any precision."""
    if left.dtype == sums.dtype:
        sums.addmm_(left, right)
    elif left.is_cuda:
        torch.ops.aten.addmm.dtype_out(sums, left, right, torch.float32, out=sums)
    else:
        sums += product(left, right, out=torch.empty_like(sums))
