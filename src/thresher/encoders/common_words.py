"""Which words a tokenizer keeps whole."""

from collections.abc import Iterable

_WORD_STARTS = ("▁", "Ġ")  # how SentencePiece and byte-level BPE mark the start of a word
_CONTINUES = "##"  # how WordPiece marks the rest of one


def whole_words(tokens: Iterable[str]) -> frozenset[str]:
    """The words that are one token each, case-folded.

    A tokenizer keeps a word whole if it was common in the text it learned from. Where tokens
    mark the start of a word, those without the mark only continue one.
    """
    marked = {token[1:] for token in tokens if token.startswith(_WORD_STARTS)}
    plain = marked or {token for token in tokens if not token.startswith(_CONTINUES)}
    return frozenset(word.casefold() for word in plain if word.isalpha())
