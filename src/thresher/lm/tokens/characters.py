"""A tokenizer in which every character is a token."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from thresher.errors import InputError
from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Ids, Tokenizer

CodePoints = NDArray[np.uint32]


class CharacterTokenizer(Tokenizer):
    """Every character is a token; ids follow the order of the code points.

    Lone surrogates, which are not valid text, are replaced by question marks.
    """

    kind = TokenizerKind.CHARACTERS
    lossless = True

    def __init__(self, characters: str) -> None:
        self._code_points = np.unique(_code_points(characters))
        self.names = [chr(point) for point in self._code_points]

    @classmethod
    def learn(cls, text: TextRange) -> "CharacterTokenizer":
        """Return the tokenizer of all characters that occur in the text."""
        return cls("".join(set().union(*map(set, text.pieces()))))

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids; a character outside the vocabulary raises an InputError."""
        start = text.start
        for piece in text.pieces():
            code_points = _code_points(piece)
            ids = np.searchsorted(self._code_points, code_points)
            nearest = self._code_points[np.minimum(ids, len(self._code_points) - 1)]
            unknown = nearest != code_points
            if unknown.any():
                raise _unknown_character(text, start + int(unknown.argmax()))
            yield ids.astype(np.int64, copy=False)
            start += len(piece)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids."""
        return "".join(self.names[i] for i in ids)

    def _json_content(self) -> str:
        return "".join(self.names)


def _unknown_character(text: TextRange, position: int) -> InputError:
    line = text.source.count("\n", text.start, position) + 1
    return InputError(
        f"the character {text.source[position]!r} (line {line}) does not occur in the training "
        "text; a model with byte-level tokens (bpe) can encode any text"
    )


def _code_points(text: str) -> CodePoints:
    return np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
