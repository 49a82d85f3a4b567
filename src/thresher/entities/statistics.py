"""What raw text says about each word: how often it comes, where, and in what case."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

from thresher.entities.casing import Casing, casing, has_letters, is_address

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
        statistics = cls(common=common)
        passage: set[str] = set()
        for number, words in enumerate(sentences):
            if number % PASSAGE == 0:
                statistics._close(passage)
                passage = set()
            folded = [word.casefold() for word in words]
            passage.update(folded)
            statistics.count.update(folded)
            for word, seen in zip(folded, casing(words), strict=True):
                if seen is not Casing.SILENT:
                    statistics.cased[word] += 1
                    statistics.capitals[word] += seen is Casing.CAPITAL
            statistics.before_address.update(
                word for word, following in pairwise(folded) if is_address(following)
            )
        statistics._close(passage)
        return statistics

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

    def _close(self, passage: Set[str]) -> None:
        self.passages.update(passage)
        self.total_passages += bool(passage)


def repeated(sentences: Sequence[Sequence[str]], ordinary: Set[str]) -> list[bool]:
    """For each word of the sentences in turn: is it out of the ordinary, and again nearby?"""
    places: defaultdict[str, list[int]] = defaultdict(list)
    folded = [[word.casefold() for word in words] for words in sentences]
    for number, words in enumerate(folded):
        for word in words:
            if word not in ordinary and has_letters(word):
                places[word].append(number)
    return [
        word in places and _others_nearby(places[word], number)
        for number, words in enumerate(folded)
        for word in words
    ]


def _others_nearby(places: list[int], number: int) -> bool:
    if len(places) < 2:
        return False
    near = bisect_right(places, number + _NEARBY) - bisect_left(places, number - _NEARBY)
    return near >= 2
