"""Read lists of words from files."""

import thresher
from thresher.bulk.chunks import sentences_of


def word_list(path: str | None) -> frozenset[str]:
    """Return every word of a file, case-folded; the empty set if `path` is None."""
    if path is None:
        return frozenset()
    sentences = sentences_of(thresher.read_texts(path, format="text"))
    return frozenset(word.casefold() for words in sentences for word in words)
