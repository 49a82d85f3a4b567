# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Light rows and the tokens that survive in many of them: one dense block, multiplied as such.

A column of the gradient costs as much to multiply as a row, so the share of entries from which on
that is worth while is the same.
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
    """tokens: (popular,)   gradient: (light rows, popular), of the logits."""

    tokens: Tensor
    gradient: Tensor

    def input_sums(self, weight: Tensor) -> Tensor:
        """What they give to the inputs of light rows: (light rows, width), float32."""
        rows = weight[self.tokens]
        sums = torch.empty(len(self.gradient), rows.shape[1], device=rows.device)
        return product(self.gradient, rows, out=sums)

    def weight_gradient(self, input: Tensor, scale: float) -> Tensor:
        """Of their rows of the weight: (popular, width). input: (light rows, width)."""
        out = torch.empty(len(self.tokens), input.shape[1], dtype=input.dtype, device=input.device)
        return out.addmm_(self.gradient.T, input, beta=0, alpha=scale)

    def bias_gradient(self, scale: float) -> Tensor:
        """(popular,), float32."""
        return self.gradient.sum(0, dtype=torch.float32).mul_(scale)


def take_popular_tokens(
    by_row: Lists, by_token: Lists, groups: RowGroups, dtype: torch.dtype, plan: Plan
) -> tuple[PopularTokens, Lists]:
    """Move them out of both lists: those by row are changed in place, the others returned anew."""
    rows = len(by_row.owner)
    many = -(-groups.popular // plan.dense_multiple) * plan.dense_multiple
    many = min(many, plan.logits_elements // max(1, rows), len(by_token.owner))
    gradient = torch.zeros(rows, many, dtype=dtype, device=by_row.owner.device)
    if many:
        _take[(rows,)](
            by_row.begin,
            by_row.end,
            by_row.index,
            by_row.factor,
            groups.tokens.rank,
            gradient,
            many,
            BLOCK=LIST_BLOCK,
            num_warps=1,
        )
    rest = Lists(
        by_token.owner[many:],
        by_token.begin[many:],
        by_token.end[many:],
        by_token.index,
        by_token.factor,
    )
    return PopularTokens(by_token.owner[:many], gradient), rest


@triton.jit
def _take(begin, end, index, factor, rank, gradient, many, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    last = tl.load(end + row)
    for done in range(tl.load(begin + row), last, BLOCK):
        step = done + tl.arange(0, BLOCK)
        mask = step < last
        place = tl.load(rank + tl.load(index + step, mask=mask, other=0), mask=mask, other=many)
        taken = place < many
        value = tl.load(factor + step, mask=taken, other=0.0)
        tl.store(gradient + row * many + place, value.to(gradient.dtype.element_ty), mask=taken)
        tl.store(index + step, -1, mask=taken)
