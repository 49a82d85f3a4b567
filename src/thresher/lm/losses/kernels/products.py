"""Matrix products of half-precision operands whose sums are kept in float32."""

import torch
from torch import Tensor
from torch.torch_version import TorchVersion


def product(left: Tensor, right: Tensor, *, out: Tensor) -> Tensor:
    """out = left @ right, in float32 whatever the operands: (a, b), (b, c) to (a, c)."""
    if left.dtype == torch.float32:
        return torch.mm(left, right, out=out)
    if left.is_cuda:
        torch.ops.aten.mm.dtype_out(left, right, torch.float32, out=out)
        return out
    return torch.mm(left.float(), right.float(), out=out)


def add_product(sums: Tensor, left: Tensor, right: Tensor) -> None:
    """sums += left @ right, in float32 whatever the operands."""
    if left.dtype == torch.float32:
        sums.addmm_(left, right)
    elif left.is_cuda and TorchVersion(torch.__version__) >= "2.11":
        torch.ops.aten.addmm.dtype_out(sums, left, right, torch.float32, out=sums)
    else:  # earlier ones would have sums in half precision too
        sums += product(left, right, out=torch.empty_like(sums))


def wide_products() -> bool:
    """Whether this torch can keep the float32 sums of a half-precision product on a GPU."""
    return hasattr(torch.ops.aten.mm, "dtype_out")
