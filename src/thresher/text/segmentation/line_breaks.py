"""Where the end of a line ends a sentence, and where the text was only wrapped there.

A blank line always ends a sentence. A single line break does not where text is hard-wrapped: text
wrapped at width W starts a new line when the next word would not have fitted,

    len(line) + 1 + len(next word) > W,

while a text with one sentence or one item a line breaks anywhere. Both are decided paragraph by
paragraph; a paragraph too short to show its width takes the usual width of the text.
"""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median_low

import regex

NARROWEST, WIDEST = 40, 120  # the widths at which people wrap text

Line = tuple[int, int]  # from its first visible character to its last, end-exclusive

_ITEM = regex.compile(r"(?:[-*+•‣◦▪·]|\(?(?:\d{1,2}|\p{L})[.)])\s")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Stretches `text[start:end]` whose inner line breaks are plain white space."""
    paragraphs = list(_paragraphs(text))
    widths = [_own_width(text, lines) for lines in paragraphs]
    shown = [width for width in widths if width]
    usual = median_low(shown) if shown else None
    for lines, own in zip(paragraphs, widths, strict=True):
        start = lines[0][0]
        width = own or usual
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


def _own_width(text: str, lines: list[Line]) -> int | None:
    """The width that a paragraph was wrapped at, where three lines or more make it plain."""
    if len(lines) < 3:
        return None
    width = max(end - start for start, end in lines)
    if not NARROWEST <= width <= WIDEST:
        return None
    breaks = list(pairwise(lines))
    full = sum(_is_full(text, line, following, width) for line, following in breaks)
    if full < 0.75 * len(breaks):
        return None
    running_on = sum(_may_run_on(text, line) for line in lines[1:])
    return width if running_on >= 0.5 * len(breaks) else None


def _is_wrap(text: str, line: Line, following: Line, width: int) -> bool:
    if _ITEM.match(text, *following):
        return False
    return text[following[0]].islower() or _is_full(text, line, following, width)


def _is_full(text: str, line: Line, following: Line, width: int) -> bool:
    """Whether the next word would not have fitted, give or take an eighth of the width.

    The slack is for text whose dashes, quotes or markup changed length after it was wrapped.
    """
    length = line[1] - line[0]
    least = width - width // 8
    most = width + width // 8
    return length <= most and length + 1 + _first_word(text, following) > least


def _may_run_on(text: str, line: Line) -> bool:
    """Whether a line may start in the middle of a sentence: with no capital, no bullet."""
    return not text[line[0]].isupper() and not _ITEM.match(text, *line)


def _first_word(text: str, line: Line) -> int:
    """The length of a line's first word; words longer than 20 characters are seldom words."""
    space = text.find(" ", line[0], line[0] + 20)
    return min(20, line[1] - line[0]) if space < 0 else space - line[0]
