# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Count from the record in how many rows each token survives, and where its list will be."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import load_survivors
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Record

COUNT_BLOCK = 64


@dataclass(frozen=True)
class TokenRanges:
    """Where the list of each token is, tokens with the longest lists first: (vocabulary,) each.

    The lists themselves are stored in the order of token ids.

    owner: the tokens   begin, end: of their lists   rank: for each token id, its index in `owner`
    """

    owner: Tensor
    begin: Tensor
    end: Tensor
    rank: Tensor

    @classmethod
    def from_counts(cls, counts: Tensor) -> "TokenRanges":
        """Return the ranges of lists of these lengths: (vocabulary,).

        The longest come first, because a long list processed last would keep the GPU waiting.
        """
        owner = counts.argsort(descending=True, stable=True)
        rank = torch.empty_like(counts)
        rank[owner] = torch.arange(len(counts), dtype=counts.dtype, device=counts.device)
        end = counts.cumsum(0)[owner]
        return cls(owner, end - counts[owner], end, rank)


def survivor_counts(record: Record, rows: Tensor, vocabulary: int, plan: Plan) -> Tensor:
    """Return in how many of the given recorded rows each token survives: (vocabulary,), int32.

    rows: (positions,), bool
    """
    counts = torch.zeros(vocabulary, dtype=torch.int32, device=rows.device)
    chunks, positions = record.starts.shape
    if chunks and positions:
        _count_tokens[(positions,)](
            *record.survivor_arguments,
            positions,
            rows,
            counts,
            chunks,
            CHUNK=plan.columns,
            WIDE=record.is_wide,
            BLOCK=COUNT_BLOCK,
            num_warps=1,
        )
    return counts


@triton.jit
def _count_tokens(
    entries, lists, capacity, starts, lengths, positions, rows, counts, chunks,
    WIDE: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Count the survivors of one row."""
    row = tl.program_id(0).to(tl.int64)
    entries += row % lists * capacity
    for chunk in range(0, tl.where(tl.load(rows + row), chunks, 0)):
        start = tl.load(starts + chunk * positions + row)
        length = tl.load(lengths + chunk * positions + row)
        for done in range(0, length, BLOCK):
            _number, mask, _u, column = load_survivors(entries + start, done, length, WIDE, BLOCK)
            tl.atomic_add(counts + chunk * CHUNK + column, 1, mask=mask, sem="relaxed")
