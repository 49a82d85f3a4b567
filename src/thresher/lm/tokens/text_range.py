"""A part of a long text that is read piece by piece instead of being copied."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

PIECE_CHARACTERS = 1 << 20  # the minimum length of a piece, which is then completed to a line

_NON_SPACE = re.compile(r"\S")


@dataclass(frozen=True)
class TextRange:
    """The characters `source[start:stop]`, without a copy of them."""

    source: str
    start: int
    stop: int

    @classmethod
    def of(cls, text: "str | TextRange") -> "TextRange":
        """Return the range that covers a whole text; a range is returned as it is."""
        return cls(text, 0, len(text)) if isinstance(text, str) else text

    def __str__(self) -> str:
        return self.source[self.start : self.stop]

    def is_blank(self) -> bool:
        """Return True if the range is empty or contains only white space."""
        return _NON_SPACE.search(self.source, self.start, self.stop) is None

    def pieces(self) -> Iterator[str]:
        """Yield consecutive parts of the range that end at line ends."""
        start = self.start
        while start < self.stop:
            line_end = self.source.find("\n", start + PIECE_CHARACTERS, self.stop)
            stop = self.stop if line_end < 0 else line_end + 1
            yield self.source[start:stop]
            start = stop
