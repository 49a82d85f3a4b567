"""Places in a text as JavaScript counts them: in UTF-16 code units, two for an emoji."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from thresher.errors import InputError

_LAST_OF_ONE_UNIT = "\uffff"


def utf16_offsets(text: str) -> Sequence[int]:
    """For each place in a text, from 0 to its length, how many UTF-16 code units are before it."""
    if max(text, default="") <= _LAST_OF_ONE_UNIT:
        return range(len(text) + 1)
    return [0, *accumulate(2 if letter > _LAST_OF_ONE_UNIT else 1 for letter in text)]


def from_utf16(offsets: Sequence[int], place: int) -> int:
    """Where in the text a place counted in UTF-16 lies; `offsets` are those of `utf16_offsets`."""
    found = bisect_left(offsets, place)
    if found == len(offsets) or offsets[found] != place:
        raise InputError(f"place {place} lies beyond the text or within one of its characters")
    return found
