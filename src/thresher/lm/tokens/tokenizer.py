"""The interface of all tokenizers: a vocabulary, text to token ids, and back."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from thresher.lm.choices import PretrainedKind, TokenizerKind
from thresher.lm.tokens.text_range import TextRange
from thresher.text.sentences import iter_sentences

Ids = NDArray[np.int64]


class Tokenizer(Protocol):
    """Converts text to token ids and back; tokenizers inherit what is implemented here.

    kind: the name under which `learn_tokenizer` creates such a tokenizer
    lossless: whether decoding restores any valid text, so that bits per byte can be computed
    names: the text of each token, readable for people; length: vocabulary
    """

    kind: ClassVar[TokenizerKind | PretrainedKind]
    lossless: ClassVar[bool]
    names: Sequence[str]

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        return len(self.names)

    def encode(self, text: str) -> Ids:
        """Return the token ids of a text: (tokens,)."""
        return np.concatenate([np.empty(0, np.int64), *self.encode_pieces(TextRange.of(text))])

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids of a long text in order, a limited number at a time."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids."""
        ...

    def to_json(self) -> str:
        """Return the tokenizer as JSON, for `tokenizer_from_json`."""
        return json.dumps({"kind": self.kind, "tokens": self._json_content()}, ensure_ascii=False)

    def _json_content(self) -> Any:
        """Return what `tokenizer_from_json` needs besides the kind."""
        ...


def split_words(text: str) -> Iterator[str]:
    """Yield the words of all sentences of a text."""
    for sentence in iter_sentences(text):
        yield from map(replace_surrogates, sentence.texts)


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by question marks: they cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode()
