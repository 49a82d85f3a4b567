"""Words from a user's files."""

from typing import TYPE_CHECKING

import thresher

if TYPE_CHECKING:
    from thresher.text.corpus import Document


def words_of(document: "Document") -> list[list[str]]:
    """The words of each sentence, as given where the source was already split."""
    return [[word.text for word in sentence.words] for sentence in document.segmented()]


def word_list(name: str) -> frozenset[str]:
    """Every word of a file, case-folded."""
    documents = thresher.read_texts(name, format="text")
    return frozenset(
        word.casefold() for each in documents for words in words_of(each) for word in words
    )
