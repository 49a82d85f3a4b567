# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Tokens that survive in many light rows ("popular"): their gradient is one dense block.

A column of the gradient costs as much to multiply as a row does, so a token is popular if it
survives in more than the same fraction of rows that makes a row dense.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.light_rows import LIST_BLOCK, Lists
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.products import product
from thresher.lm.losses.kernels.row_groups import RowGroups


@dataclass(frozen=True)
class PopularTokens:
    """The popular tokens and the gradient of their logits in light rows.

    tokens: (popular,)   gradient: (light rows, popular)
    """

    tokens: Tensor
    gradient: Tensor

    def input_sums(self, weight: Tensor) -> Tensor:
        """Return their part of the input gradient of light rows: (light rows, width), float32."""
        rows = weight[self.tokens]
        sums = torch.empty(len(self.gradient), rows.shape[1], device=rows.device)
        return product(self.gradient, rows, out=sums)

    def weight_gradient(self, input: Tensor, scale: float) -> Tensor:
        """Return the gradient of their rows of the weight: (popular, width).

        input: (light rows, width)
        """
        out = torch.empty(len(self.tokens), input.shape[1], dtype=input.dtype, device=input.device)
        return out.addmm_(self.gradient.T, input, beta=0, alpha=scale)

    def bias_gradient(self, scale: float) -> Tensor:
        """Return the gradient of their biases: (popular,), float32."""
        return self.gradient.sum(0, dtype=torch.float32).mul_(scale)


def take_popular_tokens(
    by_row: Lists, by_token: Lists, groups: RowGroups, dtype: torch.dtype, plan: Plan
) -> tuple[PopularTokens, Lists]:
    """Move the popular tokens out of both lists.

    `by_row` is changed in place; the rest of `by_token` is returned.
    """
    rows = len(by_row.owner)
    count = -(-groups.popular // plan.dense_multiple) * plan.dense_multiple
    count = min(count, plan.logits_elements // max(1, rows), len(by_token.owner))
    gradient = torch.zeros(rows, count, dtype=dtype, device=by_row.owner.device)
    if count:
        _take[(rows,)](
            by_row.begin,
            by_row.end,
            by_row.index,
            by_row.factor,
            groups.tokens.rank,
            gradient,
            count,
            BLOCK=LIST_BLOCK,
            num_warps=1,
        )
    rest = Lists(
        by_token.owner[count:],
        by_token.begin[count:],
        by_token.end[count:],
        by_token.index,
        by_token.factor,
    )
    return PopularTokens(by_token.owner[:count], gradient), rest


@triton.jit
def _take(begin, end, index, factor, rank, gradient, count, BLOCK: tl.constexpr):
    """Move the entries of popular tokens from one row's list to the dense gradient."""
    row = tl.program_id(0).to(tl.int64)
    last = tl.load(end + row)
    for done in range(tl.load(begin + row), last, BLOCK):
        number = done + tl.arange(0, BLOCK)
        mask = number < last
        column = tl.load(rank + tl.load(index + number, mask=mask, other=0), mask=mask, other=count)
        taken = column < count
        value = tl.load(factor + number, mask=taken, other=0.0)
        tl.store(gradient + row * count + column, value.to(gradient.dtype.element_ty), mask=taken)
        tl.store(index + number, -1, mask=taken)
