"""A vocabulary and the way from text to its ids; of characters, and of words.

Half of a surrogate pair is no character and has no bytes: it is read as a question mark.
"""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thresher.errors import InputError
from thresher.text.sentences import segment

UNKNOWN = "<unk>"

Ids = NDArray[np.int64]


class Tokens(ABC):
    """A vocabulary, the way from text to its ids, and back.

    names: (vocabulary,), each token as a person would read it
    lossless: whether `decode(encode(text)) == text`, so that a rate per byte has a meaning
    """

    kind: ClassVar[str]
    lossless: ClassVar[bool]
    names: Sequence[str]

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return len(self.names)

    @abstractmethod
    def encode(self, text: str) -> Ids:
        """The tokens of a text: (tokens,)."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens."""

    @abstractmethod
    def _content(self) -> Any:
        """What a file has to hold, as JSON."""

    def to_json(self) -> str:
        """All there is to know, for `tokens_from_json`."""
        return json.dumps({"kind": self.kind, "tokens": self._content()}, ensure_ascii=False)


class Characters(Tokens):
    """Every character a token, in the order of their code points."""

    kind = "characters"
    lossless = True

    def __init__(self, characters: str) -> None:
        self._points = np.unique(_code_points(characters))
        self.names = [chr(point) for point in self._points]

    def encode(self, text: str) -> Ids:
        """The tokens of a text; a character that is no token is an error that shows it."""
        points = _code_points(text)
        ids = np.searchsorted(self._points, points)
        unseen = self._points[np.minimum(ids, len(self._points) - 1)] != points
        if unseen.any():
            at = int(unseen.argmax())
            line = text.count("\n", 0, at) + 1
            raise InputError(
                f"the character {text[at]!r} (line {line}) was never seen in training; "
                "byte-level tokens (bpe) read any text"
            )
        return ids.astype(np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of tokens."""
        return "".join(self.names[i] for i in ids)

    def _content(self) -> str:
        return "".join(self.names)


class Words(Tokens):
    """The words of a text, white space left out; all words not in the list are one token."""

    kind = "words"
    lossless = False

    def __init__(self, words: Sequence[str]) -> None:
        self.names = [UNKNOWN, *words]
        self._ids = {word: i for i, word in enumerate(self.names)}

    @classmethod
    def learn(cls, text: str, vocabulary: int | None) -> "Words":
        """The most frequent words, by default all that were seen twice."""
        counts = sorted(Counter(words_of(text)).items(), key=lambda pair: (-pair[1], pair[0]))
        if vocabulary is None:
            return cls([word for word, count in counts if count > 1])
        return cls([word for word, _ in counts[: vocabulary - 1]])

    def encode(self, text: str) -> Ids:
        """The tokens of a text, 0 for a word that is not in the list."""
        return np.fromiter((self._ids.get(word, 0) for word in words_of(text)), np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The words, with a space between two."""
        return " ".join(self.names[i] for i in ids)

    def _content(self) -> list[str]:
        return list(self.names[1:])


def words_of(text: str) -> Iterable[str]:
    """The words of all sentences."""
    return (encodable(word) for sentence in segment(text) for word in sentence.texts)


def encodable(text: str) -> str:
    """The text, with a question mark for what is half a character."""
    return text.encode("utf-8", "replace").decode()


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
