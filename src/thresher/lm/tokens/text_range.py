"""A part of a long text that is read piece by piece instead of being copied."""

from collections.abc import Iterator
from dataclasses import dataclass

from thresher.lm.tokens.text_file import TextFile

PIECE_CHARACTERS = 1 << 20  # the minimum length of a piece, which is then completed to a line

_MAX_LINE = 1 << 24  # characters; a longer line is cut at a space
_BLOCK_CHARACTERS = 1 << 22


@dataclass(frozen=True)
class TextRange:
    """The characters `source[start:stop]`, without a copy of them; the source may be a file."""

    source: str | TextFile
    start: int
    stop: int

    @classmethod
    def of(cls, text: "str | TextFile | TextRange") -> "TextRange":
        """Return the range that covers a whole text; a range is returned as it is."""
        return text if isinstance(text, TextRange) else cls(text, 0, len(text))

    def __str__(self) -> str:
        return self.source[self.start : self.stop]

    def is_blank(self) -> bool:
        """Return True if the range is empty or contains only white space."""
        return all(not piece.strip() for piece in self.pieces())

    def pieces(self, *, limit: int | None = None) -> Iterator[str]:
        """Yield consecutive parts of the range that end at line ends.

        limit: if the range has more characters, only yield some pieces, spread evenly over it, that
            together have about this many characters
        """
        every = 1 if limit is None else max(1, -(-(self.stop - self.start) // limit))
        for number, part in enumerate(self._split(PIECE_CHARACTERS)):
            if number % every == 0:
                yield str(part)

    def blocks(self) -> Iterator["TextRange"]:
        """Yield consecutive parts of the range that fit into memory: 4 million characters."""
        return self._split(_BLOCK_CHARACTERS)

    def _split(self, size: int) -> Iterator["TextRange"]:
        start = self.start
        while start < self.stop:
            stop = self._end_of_line(start + size)
            yield TextRange(self.source, start, stop)
            start = stop

    def _end_of_line(self, position: int) -> int:
        """Return the start of the next line; within a very long line, the next space."""
        limit = min(self.stop, position + _MAX_LINE)
        line_end = self.source.find("\n", position, limit)
        if line_end >= 0:
            return line_end + 1
        if limit == self.stop:
            return self.stop
        space = self.source.find(" ", limit, min(self.stop, limit + _MAX_LINE))
        return space if space >= 0 else limit
