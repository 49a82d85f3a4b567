"""Sums of runs of rows, for words of several tokens and spans of several words."""

import numpy as np
from numpy.typing import NDArray


def run_sums(
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return the sums of vectors[rows[start : start + length]]: (runs, width).

    Several times as fast as `np.add.reduceat` for short runs, and equal to it up to eight rows: all
    rows but the first are added up, then the first.

    rows: row numbers of `vectors`   starts: (runs,)   lengths: (runs,), at least 1
    """
    sums = vectors[rows[starts]]
    several = np.flatnonzero(lengths > 1)
    others = vectors[rows[starts[several] + 1]]
    for k in range(2, int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths[several] > k)
        others[longer] += vectors[rows[starts[several[longer]] + k]]
    sums[several] += others
    return sums
