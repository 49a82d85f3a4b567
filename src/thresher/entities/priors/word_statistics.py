"""Statistics of words in raw text: how often they occur, where, and in which case."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.casing import (
    Casing,
    casing_of_words,
    has_letters,
    is_address,
    is_word,
)
from thresher.text.indexed_sentences import IndexedSentences, WordIds

PASSAGE = 20  # sentences that count as one passage
_MAX_DISTANCE = PASSAGE // 2


@dataclass
class WordStatistics:
    """Counts of case-folded words over raw sentences.

    count: occurrences   passages: passages of 20 sentences that contain the word
    cased: occurrences where case is informative   capitals: those of them with a capital
    before_address: occurrences directly before a URL or a user's handle
    total_passages: passages that contain any word
    common_words: words that are common in the language, independent of this text
    """

    count: Counter[str] = field(default_factory=Counter)
    passages: Counter[str] = field(default_factory=Counter)
    cased: Counter[str] = field(default_factory=Counter)
    capitals: Counter[str] = field(default_factory=Counter)
    before_address: Counter[str] = field(default_factory=Counter)
    total_passages: int = 0
    common_words: Set[str] = frozenset()

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[str]], *, common_words: Set[str] = frozenset()
    ) -> Self:
        """Count the words of sentences."""
        indexed = IndexedSentences.from_sentences(sentences)
        casing = casing_of_words(indexed)
        folded = indexed.replace_words(str.casefold)

        def as_counter(counts: NDArray[np.int64]) -> Counter[str]:
            pairs = zip(folded.vocabulary, counts.tolist(), strict=True)
            return Counter({word: count for word, count in pairs if count})

        return cls(
            count=as_counter(folded.word_counts()),
            passages=as_counter(folded.passage_counts(PASSAGE)),
            cased=as_counter(folded.word_counts(casing != Casing.UNINFORMATIVE)),
            capitals=as_counter(folded.word_counts(casing == Casing.CAPITAL)),
            before_address=as_counter(folded.word_counts(_is_before_address(folded))),
            total_passages=_passages_with_words(folded),
            common_words=common_words,
        )

    def capital_rate(self, word: str, *, min_count: int = 3) -> float | None:
        """Return how often the word is capitalised where case is informative.

        None if there are fewer than `min_count` such occurrences.
        """
        cased = self.cased[word]
        return self.capitals[word] / cased if cased >= min_count else None

    def ordinary_words(self) -> frozenset[str]:
        """Return the words that are widespread, not repeated where they occur, or common.

        Other words are *bursty*: rare in general, but repeated where they occur, as names and
        technical terms are. Numbers, punctuation and addresses are not included.
        """
        widespread = self.total_passages / 25
        in_text = (
            word
            for word, passages in self.passages.items()
            if passages >= 3 and (passages > widespread or self.count[word] < 2 * passages)
        )
        return frozenset(filter(is_word, (*in_text, *self.common_words)))

    def never_names(self) -> frozenset[str]:
        """Return words that the text uses with capitals although they are not names.

        Words that mostly occur before an address are markup ("RT @user"); a single letter that is
        capitalised in a quarter of all passages is grammar ("I").
        """
        markup = (
            word
            for word, count in self.before_address.items()
            if count >= 3 and 2 * count > self.count[word]
        )
        grammar = (
            word
            for word, passages in self.passages.items()
            if len(word) == 1
            and 4 * passages >= self.total_passages
            and 2 * self.capitals[word] > self.cased[word]
        )
        return frozenset(word for word in (*markup, *grammar) if has_letters(word))


def is_repeated_nearby(sentences: Sequence[Sequence[str]], ordinary: Set[str]) -> NDArray[np.bool_]:
    """Return for each word whether it is not ordinary and occurs again within ten sentences."""
    indexed = IndexedSentences.from_sentences(sentences)
    rare = indexed.map_vocabulary(lambda word: is_rare(word, ordinary), np.bool_)
    return repeated_nearby(indexed, rare)


def is_rare(word: str, ordinary: Set[str]) -> bool:
    """Return True if a word has letters and is not ordinary.   ordinary: case-folded"""
    folded = word.casefold()
    return folded not in ordinary and has_letters(folded)


def repeated_nearby(
    indexed: IndexedSentences,
    rare: NDArray[np.bool_],
    *,
    text_lengths: Sequence[int] | None = None,
) -> NDArray[np.bool_]:
    """Return `is_repeated_nearby`, given which words are rare.

    rare: (vocabulary,)
    text_lengths: the number of sentences of each text; repetitions count within a text only. By
        default all sentences are one text
    """
    ids, rare_words = WordIds(), np.flatnonzero(rare).tolist()
    folded_id = np.zeros(len(rare), dtype=np.int32)
    folded_id[rare_words] = [ids[indexed.vocabulary[each].casefold()] for each in rare_words]
    index = np.flatnonzero(rare[indexed.word_ids])
    word = folded_id[indexed.word_ids[index]]
    order = np.argsort(word, kind="stable")  # group by word
    index, word = index[order], word[order]
    sentence = indexed.sentence_of_word()[index]
    near = (word[1:] == word[:-1]) & (sentence[1:] - sentence[:-1] <= _MAX_DISTANCE)
    if text_lengths is not None and len(text_lengths) > 1:
        text = np.repeat(np.arange(len(text_lengths)), text_lengths)[sentence]
        near &= text[1:] == text[:-1]
    repeated = np.zeros(len(indexed.word_ids), dtype=np.bool_)
    repeated[index[1:][near]] = True
    repeated[index[:-1][near]] = True
    return repeated


def _is_before_address(sentences: IndexedSentences) -> NDArray[np.bool_]:
    """Return for each word whether the next word of its sentence is an address: (words,)."""
    found = np.zeros(len(sentences.word_ids), dtype=np.bool_)
    sentence = sentences.sentence_of_word()
    addresses = sentences.map_words(is_address, np.bool_)
    found[:-1] = addresses[1:] & (sentence[1:] == sentence[:-1])
    return found


def _passages_with_words(sentences: IndexedSentences) -> int:
    bounds = np.append(sentences.starts[:-1:PASSAGE], sentences.starts[-1])
    return int(np.count_nonzero(np.diff(bounds)))
