"""What raw text says about each word: how often it comes, where, and in what case."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.casing import Casing, casings, has_letters, is_address
from thresher.text.indexed_sentences import IndexedSentences

PASSAGE = 20  # sentences
_NEARBY = PASSAGE // 2


@dataclass
class WordStatistics:
    """Counts of case-folded words over raw sentences.

    count: running words   passages: in how many passages of 20 sentences a word occurs
    cased: occurrences where case says something   capitals: those of them with a capital
    before_address: occurrences just before a URL or a user's handle
    common: words known to be common in general, whatever this text says
    """

    count: Counter[str] = field(default_factory=Counter)
    passages: Counter[str] = field(default_factory=Counter)
    cased: Counter[str] = field(default_factory=Counter)
    capitals: Counter[str] = field(default_factory=Counter)
    before_address: Counter[str] = field(default_factory=Counter)
    total_passages: int = 0
    common: Set[str] = frozenset()

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, common: Set[str] = frozenset()) -> Self:
        """The counts of these sentences."""
        numbered = IndexedSentences.from_sentences(sentences)
        seen = casings(numbered)
        folded = numbered.replace_words(str.casefold)

        def counted(counts: NDArray[np.int64]) -> Counter[str]:
            times = zip(folded.vocabulary, counts.tolist(), strict=True)
            return Counter({word: number for word, number in times if number})

        return cls(
            count=counted(folded.word_counts()),
            passages=counted(folded.passage_counts(PASSAGE)),
            cased=counted(folded.word_counts(seen != Casing.SILENT)),
            capitals=counted(folded.word_counts(seen == Casing.CAPITAL)),
            before_address=counted(folded.word_counts(_before_addresses(folded))),
            total_passages=_passages_with_words(folded),
            common=common,
        )

    def capital_rate(self, word: str, *, least: int = 3) -> float | None:
        """How often the word is capitalised where it need not be; None if seen too rarely."""
        cased = self.cased[word]
        return self.capitals[word] / cased if cased >= least else None

    def ordinary_words(self) -> frozenset[str]:
        """Words that come everywhere, do not come again once they have come, or are common.

        A word that is none of these is *bursty*: rare in general, and repeated where it occurs.
        Names and technical terms are; it needs no capitals to be seen. Numbers, signs and
        addresses are no words and are left out.
        """
        often = self.total_passages / 25
        here = (
            word
            for word, passages in self.passages.items()
            if passages >= 3 and (passages > often or self.count[word] < 2 * passages)
        )
        return frozenset(
            word for word in (*here, *self.common) if has_letters(word) and not is_address(word)
        )

    def never_names(self) -> frozenset[str]:
        """Words that capitals are no sign of a name for, told by where they come.

        Words that mostly introduce an address are markup ("RT @user"); a letter with a capital in
        a quarter of all passages is grammar ("I").
        """
        markup = (
            word
            for word, times in self.before_address.items()
            if times >= 3 and 2 * times > self.count[word]
        )
        grammar = (
            word
            for word, passages in self.passages.items()
            if len(word) == 1
            and 4 * passages >= self.total_passages
            and 2 * self.capitals[word] > self.cased[word]
        )
        return frozenset(word for word in (*markup, *grammar) if has_letters(word))


def repeated(
    sentences: Sequence[Sequence[str]], ordinary: Set[str], *, texts: Sequence[int] | None = None
) -> NDArray[np.bool_]:
    """For each word of the sentences in turn: is it out of the ordinary, and again nearby?

    texts: how many sentences each text has, if there are several; nearby is in the same one
    """
    folded = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
    place = np.flatnonzero(
        folded.map_words(lambda word: word not in ordinary and has_letters(word), np.bool_)
    )
    place = place[np.argsort(folded.word_ids[place], kind="stable")]  # a word's places together
    number, sentence = folded.word_ids[place], folded.sentence_of_word()[place]
    near = (number[1:] == number[:-1]) & (sentence[1:] - sentence[:-1] <= _NEARBY)
    if texts is not None and len(texts) > 1:
        text = np.repeat(np.arange(len(texts)), texts)[sentence]
        near &= text[1:] == text[:-1]
    found = np.zeros(len(folded.word_ids), dtype=np.bool_)
    found[place[1:][near]] = True
    found[place[:-1][near]] = True
    return found


def _before_addresses(sentences: IndexedSentences) -> NDArray[np.bool_]:
    """Whether the next word of the same sentence is an address: (words,)."""
    found = np.zeros(len(sentences.word_ids), dtype=np.bool_)
    sentence = sentences.sentence_of_word()
    addresses = sentences.map_words(is_address, np.bool_)
    found[:-1] = addresses[1:] & (sentence[1:] == sentence[:-1])
    return found


def _passages_with_words(sentences: IndexedSentences) -> int:
    bounds = np.append(sentences.starts[:-1:PASSAGE], sentences.starts[-1])
    return int(np.count_nonzero(np.diff(bounds)))
