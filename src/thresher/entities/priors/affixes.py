"""What a language puts before and after its words, told by raw text alone.

A string is a prefix if many words are another word with it in front: የኢትዮጵያ beside ኢትዮጵያ. Many
means one in a hundred of all words; the words of a language with few endings have none.
"""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

LONGEST = 3  # letters of an affix
SHORTEST_STEM = 2
PRODUCTIVE = 0.01  # of all words


@dataclass(frozen=True)
class Affixes:
    """Prefixes and suffixes that are put on many words, and the words they were told from."""

    prefixes: frozenset[str]
    suffixes: frozenset[str]
    words: Set[str] = field(repr=False)
    _stems: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, words: Set[str]) -> "Affixes":
        """The affixes of these different words, each in one case."""
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for word in words:
            for size in _sizes(word):
                before[word[:size]] += word[size:] in words
                after[word[-size:]] += word[:-size] in words
        least = max(2, PRODUCTIVE * len(words))
        return cls(
            frozenset(affix for affix, times in before.items() if times >= least),
            frozenset(affix for affix, times in after.items() if times >= least),
            words,
        )

    def stem(self, word: str) -> str:
        """The word without its affixes, one after another, as long as a word is left.

        A prefix is taken off before a suffix, a short one before a long one.
        """
        if word not in self._stems:
            rest = self._without_one(word)
            self._stems[word] = word if rest is None else self.stem(rest)
        return self._stems[word]

    def with_stems(self, listed: Set[str]) -> frozenset[str]:
        """A list of words, and every word whose stem is on it."""
        return frozenset(listed) | {word for word in self.words if self.stem(word) in listed}

    def _without_one(self, word: str) -> str | None:
        for size in _sizes(word):
            if word[:size] in self.prefixes and word[size:] in self.words:
                return word[size:]
        for size in _sizes(word):
            if word[-size:] in self.suffixes and word[:-size] in self.words:
                return word[:-size]
        return None


def _sizes(word: str) -> range:
    return range(1, min(LONGEST, len(word) - SHORTEST_STEM) + 1)
