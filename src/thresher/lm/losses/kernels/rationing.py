# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Which rows are recorded, and how much each may add.

How many survivors there will be is not known before all logits were seen. So after each step over
the vocabulary the room that is left is shared out anew. If rows go on as they began and there is
too little of it, those with the most survivors are given up. The others may each add a part of what
is left, so that no list can ever overflow, whatever comes, and which rows are recorded does not
depend on the order in which programs run.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS_OF_A_LIST = 128  # one counter for all rows would be waited for
FILLED = tl.constexpr(7 / 8)  # of a list, if all goes as expected
HALVINGS = tl.constexpr(12)  # of the largest count, so that a limit is found to .02 % of it


@dataclass(frozen=True)
class Room:
    """The lists survivors are written to: row i writes to the list i modulo their number.

    each: entries of one list   used: (lists,), entries that were written
    quota: (positions,), what a row may add in one chunk, −1 if it is not recorded any more
    counted: (positions,), survivors so far
    """

    each: int
    used: Tensor
    quota: Tensor
    counted: Tensor

    @classmethod
    def empty(cls, positions: int, each: int, chunks: int, device: torch.device) -> "Room":
        """With an even share of the first `chunks` for every row."""
        counted = torch.zeros(positions, dtype=torch.int32, device=device)
        used = counted.new_zeros(lists(positions))
        rows = -(-positions // max(1, len(used)))
        return cls(each, used, torch.full_like(counted, each // max(1, rows * chunks)), counted)

    def share_out(
        self, starts: Tensor, lengths: Tensor, *, seen: int, vocabulary: int, chunks: int
    ) -> None:
        """After a step: what is left, for the next `chunks`.

        starts, lengths: (chunks of the step, positions), see `recording.Record`
        seen: columns of the vocabulary up to now
        """
        _share_out[(len(self.used),)](
            self.quota,
            self.counted,
            self.used,
            self.each,
            starts,
            lengths,
            starts.shape[0],
            starts.shape[1],
            len(self.used),
            (vocabulary - seen) / seen,
            chunks,
            ROWS=ROWS_OF_A_LIST,
            num_warps=1,
        )


def lists(positions: int) -> int:
    """How many there are."""
    return -(-positions // ROWS_OF_A_LIST)


@triton.jit
def _share_out(
    quota,
    counted,
    used,
    room,
    starts,
    lengths,
    done,
    positions,
    lists,
    to_come,
    chunks,
    ROWS: tl.constexpr,
):
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
    low = high * 0  # will be the greatest count with which rows can be recorded to the end
    limit = high
    for _ in range(HALVINGS):
        expected = spent + to_come * tl.sum(tl.where(kept & (count <= limit), count, 0.0), 0)
        fits = expected <= room * FILLED
        low = tl.where(fits, limit, low)
        high = tl.where(fits, high, limit)
        limit = (low + high) / 2
    kept = kept & (count <= low)

    # A row without any survivor so far may find some yet: a quarter of an even share for each.
    even = room / tl.sum(present.to(tl.float32), 0)
    wish = tl.where(kept, count + even / 4, 0.0)
    # A thousandth less than there is, since these are rounded numbers.
    part = 0.999 * (room - spent) / (chunks * tl.maximum(tl.sum(wish, 0), 1.0))
    tl.store(quota + row, tl.where(kept, part * wish, -1.0).to(tl.int32), mask=present)
