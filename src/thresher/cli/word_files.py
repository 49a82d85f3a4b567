"""Words from a user's files."""

import thresher
from thresher.bulk.chunks import sentences_of


def word_list(name: str | None) -> frozenset[str]:
    """Every word of a file, case-folded; none where no file is named."""
    if name is None:
        return frozenset()
    sentences = sentences_of(thresher.read_texts(name, format="text"))
    return frozenset(word.casefold() for words in sentences for word in words)
