"""Prefixes and suffixes of a language, learned from the words of raw text.

A string is a prefix if many words consist of it and another word: የኢትዮጵያ beside ኢትዮጵያ. Many
means one in a hundred of all distinct words; a language with few endings has no affixes.
"""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

MAX_AFFIX_LENGTH = 3  # letters
MIN_STEM_LENGTH = 2
MIN_FREQUENCY = 0.01  # of all distinct words


@dataclass(frozen=True)
class Affixes:
    """The frequent prefixes and suffixes of a set of words."""

    prefixes: frozenset[str]
    suffixes: frozenset[str]
    words: Set[str] = field(repr=False)
    _stems: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_words(cls, words: Set[str]) -> "Affixes":
        """Find the affixes of distinct, case-folded words."""
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for word in words:
            for size in _affix_lengths(word):
                before[word[:size]] += word[size:] in words
                after[word[-size:]] += word[:-size] in words
        min_count = max(2, MIN_FREQUENCY * len(words))
        return cls(
            frozenset(affix for affix, count in before.items() if count >= min_count),
            frozenset(affix for affix, count in after.items() if count >= min_count),
            words,
        )

    def stem(self, word: str) -> str:
        """Return the word without its affixes, removed one by one while a known word remains.

        Prefixes are removed before suffixes, and short affixes before long ones.
        """
        if word not in self._stems:
            rest = self._without_one_affix(word)
            self._stems[word] = word if rest is None else self.stem(rest)
        return self._stems[word]

    def with_stems(self, listed: Set[str]) -> frozenset[str]:
        """Return the listed words and every known word whose stem is listed."""
        return frozenset(listed) | {word for word in self.words if self.stem(word) in listed}

    def _without_one_affix(self, word: str) -> str | None:
        for size in _affix_lengths(word):
            if word[:size] in self.prefixes and word[size:] in self.words:
                return word[size:]
        for size in _affix_lengths(word):
            if word[-size:] in self.suffixes and word[:-size] in self.words:
                return word[:-size]
        return None


def _affix_lengths(word: str) -> range:
    return range(1, min(MAX_AFFIX_LENGTH, len(word) - MIN_STEM_LENGTH) + 1)
