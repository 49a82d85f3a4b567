# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Decide which rows are recorded, and how many survivors each may add per chunk.

The number of survivors is not known before all logits were computed, but the memory of the record
is allocated before. So after each step over the vocabulary the remaining capacity is distributed
again. If the rows are expected to need more than remains, those with the most survivors are given
up. Each of the others may add a part of what remains, so that no list can overflow. Which rows are
recorded does not depend on the order in which GPU programs run.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS_PER_LIST = 128  # with one list for all rows, programs would wait for its counter
FILLED = tl.constexpr(7 / 8)  # of a list, if counts grow as expected
BISECTIONS = tl.constexpr(12)  # find a limit to .02 % of the largest count


@dataclass(frozen=True)
class Quotas:
    """The state of the lists that survivors are written to; row i writes to list i % lists.

    capacity: entries of one list
    used: (lists,), entries written so far
    quota: (positions,), how many entries a row may add in one chunk; −1 if it is given up
    counted: (positions,), survivors so far
    """

    capacity: int
    used: Tensor
    quota: Tensor
    counted: Tensor

    @classmethod
    def initial(cls, positions: int, capacity: int, chunks: int, device: torch.device) -> "Quotas":
        """Return equal quotas of all rows for the first `chunks`."""
        counted = torch.zeros(positions, dtype=torch.int32, device=device)
        used = counted.new_zeros(list_count(positions))
        rows = -(-positions // max(1, len(used)))
        quota = torch.full_like(counted, capacity // max(1, rows * chunks))
        return cls(capacity, used, quota, counted)

    def update(
        self, starts: Tensor, lengths: Tensor, *, seen: int, vocabulary: int, chunks: int
    ) -> None:
        """After a step, distribute the remaining capacity over the next `chunks`.

        starts, lengths: (chunks of the step, positions), see `recording.Record`
        seen: columns of the vocabulary so far
        """
        _update_quotas[(len(self.used),)](
            self.quota,
            self.counted,
            self.used,
            self.capacity,
            starts,
            lengths,
            starts.shape[0],
            starts.shape[1],
            len(self.used),
            (vocabulary - seen) / seen,
            chunks,
            ROWS=ROWS_PER_LIST,
            num_warps=1,
        )


def list_count(positions: int) -> int:
    """Return the number of lists for this many rows."""
    return -(-positions // ROWS_PER_LIST)


@triton.jit
def _update_quotas(
    quota, counted, used, capacity, starts, lengths, done, positions, lists, to_come, chunks,
    ROWS: tl.constexpr,
):  # fmt: skip
    """Update the quotas of the rows of one list.

    to_come: the remaining columns, as a multiple of those so far
    """
    row = tl.program_id(0) + tl.arange(0, ROWS) * lists
    present = row < positions
    kept = tl.load(quota + row, mask=present, other=-1) >= 0
    count = tl.load(counted + row, mask=present, other=0)
    for chunk in range(0, done):
        count += tl.load(lengths + chunk * positions + row, mask=present, other=0)
        kept = kept & (tl.load(starts + chunk * positions + row, mask=present, other=-1) >= 0)
    tl.store(counted + row, count, mask=present)
    count = count.to(tl.float32)
    spent = tl.load(used + tl.program_id(0)).to(tl.float32)

    high = tl.max(count, 0)
    low = high * 0  # becomes the largest count of rows that can be recorded to the end
    limit = high
    for _ in range(BISECTIONS):
        expected = spent + to_come * tl.sum(tl.where(kept & (count <= limit), count, 0.0), 0)
        fits = expected <= capacity * FILLED
        low = tl.where(fits, limit, low)
        high = tl.where(fits, high, limit)
        limit = (low + high) / 2
    kept = kept & (count <= low)

    # A row without survivors so far may still have some: each gets a quarter of an equal part.
    equal_part = capacity / tl.sum(present.to(tl.float32), 0)
    demand = tl.where(kept, count + equal_part / 4, 0.0)
    # A thousandth less than the remaining capacity, because of rounding.
    part = 0.999 * (capacity - spent) / (chunks * tl.maximum(tl.sum(demand, 0), 1.0))
    tl.store(quota + row, tl.where(kept, part * demand, -1.0).to(tl.int32), mask=present)
