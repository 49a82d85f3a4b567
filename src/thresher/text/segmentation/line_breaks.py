"""Decide which line breaks end a sentence and which only wrap a long line.

A blank line always ends a sentence. A single line break does not if the text is hard-wrapped: text
wrapped at width W starts a new line when the next word does not fit,

    len(line) + 1 + len(next word) > W,

while a text with one sentence or one item per line breaks anywhere. This is decided for each
paragraph; paragraphs too short to estimate their width use the median width of the text.
"""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median_low

import regex

MIN_WIDTH, MAX_WIDTH = 40, 120  # usual widths of wrapped text

Line = tuple[int, int]  # (start, end) without white space at both ends, end-exclusive

_ITEM = regex.compile(r"(?:[-*+•‣◦▪·]|\(?(?:\d{1,2}|\p{L})[.)])\s")


def split_passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of passages whose inner line breaks do not end a sentence."""
    paragraphs = list(_paragraphs(text))
    widths = [_wrap_width(text, lines) for lines in paragraphs]
    known = [width for width in widths if width]
    median = median_low(known) if known else None
    for lines, own_width in zip(paragraphs, widths, strict=True):
        start = lines[0][0]
        width = own_width or median
        for line, following in pairwise(lines):
            if not (width and _is_wrap(text, line, following, width)):
                yield start, line[1]
                start = following[0]
        yield start, lines[-1][1]


def _paragraphs(text: str) -> Iterator[list[Line]]:
    lines: list[Line] = []
    start = 0
    for raw in text.splitlines(keepends=True):
        end = start + len(raw)
        visible = raw.strip()
        if visible:
            first = end - len(raw.lstrip())
            lines.append((first, first + len(visible)))
        elif lines:
            yield lines
            lines = []
        start = end
    if lines:
        yield lines


def _wrap_width(text: str, lines: list[Line]) -> int | None:
    """Return the width at which a paragraph is wrapped, or None; it needs three lines or more."""
    if len(lines) < 3:
        return None
    width = max(end - start for start, end in lines)
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        return None
    breaks = list(pairwise(lines))
    full = sum(_is_full(text, line, following, width) for line, following in breaks)
    if full < 0.75 * len(breaks):
        return None
    continued = sum(_may_continue(text, line) for line in lines[1:])
    return width if continued >= 0.5 * len(breaks) else None


def _is_wrap(text: str, line: Line, following: Line, width: int) -> bool:
    if _ITEM.match(text, *following):
        return False
    return text[following[0]].islower() or _is_full(text, line, following, width)


def _is_full(text: str, line: Line, following: Line, width: int) -> bool:
    """Return True if the next word does not fit on the line, with a tolerance of width/8.

    The tolerance allows for dashes, quotes or markup that changed length after wrapping.
    """
    length = line[1] - line[0]
    tolerance = width // 8
    with_next_word = length + 1 + _first_word_length(text, following)
    return length <= width + tolerance and with_next_word > width - tolerance


def _may_continue(text: str, line: Line) -> bool:
    """Return True if the line may continue a sentence: it starts with no capital or bullet."""
    return not text[line[0]].isupper() and not _ITEM.match(text, *line)


def _first_word_length(text: str, line: Line) -> int:
    """Return the length of a line's first word, at most 20 characters."""
    space = text.find(" ", line[0], line[0] + 20)
    return min(20, line[1] - line[0]) if space < 0 else space - line[0]
