# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""In how many rows each token survives, counted from the record, and where its list will be."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import unpacked
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Record

COUNT_BLOCK = 64


@dataclass(frozen=True)
class TokenPlaces:
    """Where the list of each token lies, those of the most rows first: (vocabulary,) each.

    The lists themselves lie in the order of tokens.

    owner: the tokens   begin, end: of their lists   rank: of each token, its place in `owner`
    """

    owner: Tensor
    begin: Tensor
    end: Tensor
    rank: Tensor

    @classmethod
    def of(cls, counts: Tensor) -> "TokenPlaces":
        """With so many entries for each token. The longest first: the last would be waited for."""
        owner = counts.argsort(descending=True, stable=True)
        rank = torch.empty_like(counts)
        rank[owner] = torch.arange(len(counts), dtype=counts.dtype, device=counts.device)
        end = counts.cumsum(0)[owner]
        return cls(owner, end - counts[owner], end, rank)


def token_counts(record: Record, rows: Tensor, vocabulary: int, plan: Plan) -> Tensor:
    """Of those recorded rows that are marked: (vocabulary,), int32. rows: (positions,), bool."""
    counts = torch.zeros(vocabulary, dtype=torch.int32, device=rows.device)
    chunks, positions = record.starts.shape
    if chunks and positions:
        _count_tokens[(positions,)](
            record.entries,
            *record.entries.shape,
            record.starts,
            record.lengths,
            positions,
            rows,
            counts,
            chunks,
            CHUNK=plan.columns,
            WIDE=record.entries.dtype == torch.int64,
            BLOCK=COUNT_BLOCK,
            num_warps=1,
        )
    return counts


@triton.jit
def _count_tokens(
    entries,
    lists,
    room,
    starts,
    lengths,
    positions,
    rows,
    counts,
    chunks,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    entries += row % lists * room
    for chunk in range(0, tl.where(tl.load(rows + row), chunks, 0)):
        start = tl.load(starts + chunk * positions + row)
        length = tl.load(lengths + chunk * positions + row)
        for done in range(0, length, BLOCK):
            step = done + tl.arange(0, BLOCK)
            mask = step < length
            _, column = unpacked(tl.load(entries + start + step, mask=mask, other=0), WIDE)
            tl.atomic_add(counts + chunk * CHUNK + column, 1, mask=mask, sem="relaxed")
