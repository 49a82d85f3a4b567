"""What is seen of each word beside its meaning, in many texts at once."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.casing import Casing, casings, has_letters, is_address, is_capitalised
from thresher.entities.priors.word_statistics import repeated
from thresher.text.indexed_sentences import IndexedSentences

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class WordSignals:
    """What is seen of each word beside its meaning: (words,) each.

    casing: a `Casing`   repeated: rare in general, and again nearby; such a word may be a term,
    which nobody capitalises, so lower case says nothing of it. None where nobody knows what is
    rare in general
    possible: neither punctuation, a number, an address, nor a word known not to be a name; where
    dates are entities, numbers are possible too
    """

    casing: NDArray[np.int8]
    repeated: Flags | None
    possible: Flags


@dataclass(frozen=True)
class SignalExtractor:
    """Looks at words.

    ordinary: words that are not rare in general, where that is known
    not_names: words known not to be names, case-folded
    dates: words of dates, where dates are entities; as of terms, lower case says nothing of them
    """

    ordinary: Set[str] | None = None
    not_names: Set[str] = frozenset()
    dates: Set[str] | None = None

    def __call__(self, sentences: Sequence[Sequence[str]]) -> WordSignals:
        """What is seen in the sentences of one text."""
        return self.of_texts([sentences])

    def of_texts(self, texts: Sequence[Sequence[Sequence[str]]]) -> WordSignals:
        """The same for one text after the other; a word comes again only in its own."""
        words = IndexedSentences.from_sentences(
            texts[0] if len(texts) == 1 else chain.from_iterable(texts)
        )
        casing = _visible_casing(words)
        again = None
        if self.ordinary is not None:
            again = repeated(words, self.ordinary, texts=list(map(len, texts)))
            casing[again & (casing == Casing.LOWER)] = Casing.SILENT
        if self.dates is not None:
            casing[words.map_words(self._is_date, np.bool_)] = Casing.SILENT
        return WordSignals(casing, again, possible=words.map_words(self._possible, np.bool_))

    def _is_date(self, word: str) -> bool:
        return self.dates is not None and word.casefold() in self.dates

    def _possible(self, word: str) -> bool:
        if self.dates is not None and word[:1].isdecimal():
            return True
        return has_letters(word) and not is_address(word) and word.casefold() not in self.not_names


def _visible_casing(sentences: IndexedSentences) -> NDArray[np.int8]:
    """The case of each word; silent where no word has a capital, since then nobody set any."""
    seen = casings(sentences)
    sentence = sentences.sentence_of_word()
    capital = sentences.map_words(is_capitalised, np.bool_)
    capitals = np.bincount(sentence[capital], minlength=len(sentences))
    seen[capitals[sentence] == 0] = Casing.SILENT
    return seen
