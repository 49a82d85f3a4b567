"""Convert character offsets to UTF-16 code units, as JavaScript counts them, and back."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from thresher.errors import InputError

_LAST_SINGLE_UNIT = "\uffff"  # characters above take two code units


def utf16_offsets(text: str) -> Sequence[int]:
    """Return the UTF-16 offset of each character offset from 0 to len(text)."""
    if max(text, default="") <= _LAST_SINGLE_UNIT:
        return range(len(text) + 1)
    return [0, *accumulate(2 if character > _LAST_SINGLE_UNIT else 1 for character in text)]


def from_utf16(offsets: Sequence[int], utf16_offset: int) -> int:
    """Return the character offset of a UTF-16 offset; `offsets` comes from `utf16_offsets`."""
    index = bisect_left(offsets, utf16_offset)
    if index == len(offsets) or offsets[index] != utf16_offset:
        raise InputError(
            f"UTF-16 offset {utf16_offset} is beyond the text or inside one of its characters"
        )
    return index
