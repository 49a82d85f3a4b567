"""The words that a tokenizer keeps as one token."""

from collections.abc import Iterable

_WORD_STARTS = ("▁", "Ġ")  # start of a word in SentencePiece and in byte-level BPE
_CONTINUATION = "##"  # any other part of a word in WordPiece


def whole_words(vocabulary: Iterable[str]) -> frozenset[str]:
    """Return the case-folded words that are a single token.

    A tokenizer keeps a word whole if it was common in the text it was trained on. If tokens mark
    the start of a word, tokens without the mark are never whole words, so they are left out.
    """
    marked = {token[1:] for token in vocabulary if token.startswith(_WORD_STARTS)}
    words = marked or {token for token in vocabulary if not token.startswith(_CONTINUATION)}
    return frozenset(word.casefold() for word in words if word.isalpha())
