"""In what script a text is written, and whether capitals tell anything in it."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from thresher.entities.priors.casing import is_capitalised
from thresher.text.indexed_sentences import IndexedSentences

MIXED = 0.05  # of the letters: fewer of another script are names and quotations
_UNSPACED = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"}
FEW_CAPITALS = 0.005  # of the words: fewer are accidents


@dataclass(frozen=True)
class Writing:
    """The share of each script in the letters, the largest first; and how much has case.

    caseless: the share of letters that are neither capital nor small
    capitals: the share of words that have a capital
    """

    scripts: dict[str, float]
    caseless: float
    capitals: float

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Self:
        """How these sentences are written."""
        words = IndexedSentences.from_sentences(sentences)
        letters: Counter[str] = Counter()
        for word, times in zip(words.vocabulary, words.word_counts().tolist(), strict=True):
            for letter in filter(str.isalpha, word):
                letters[letter] += times
        total = max(letters.total(), 1)
        scripts: Counter[str] = Counter()
        for letter, times in letters.items():
            scripts[_script(letter)] += times
        return cls(
            {name: times / total for name, times in scripts.most_common()},
            sum(times for letter, times in letters.items() if not _has_case(letter)) / total,
            int(words.map_words(is_capitalised, np.bool_).sum()) / max(len(words.word_ids), 1),
        )

    @property
    def priors(self) -> tuple[str, ...]:
        """What to go by: capitals where there are any, else what keeps together; both if mixed."""
        if self.capitals < FEW_CAPITALS:
            return ("burstiness",)
        with_case = ("repetition", "casing")
        return with_case if self.caseless < MIXED else ("burstiness", *with_case)

    @property
    def is_mixed(self) -> bool:
        """Whether some of the text is in a script with case, and some in one without."""
        return MIXED <= self.caseless <= 1 - MIXED

    @property
    def is_unspaced(self) -> bool:
        """Whether some of the text is in a script that puts no space between words."""
        return sum(self.scripts.get(name, 0.0) for name in _UNSPACED) >= MIXED

    def __str__(self) -> str:
        """Such as "Ethiopic script, no capitals"."""
        large = {name: share for name, share in self.scripts.items() if share >= MIXED}
        names = [f"{name} {share:.0%}" if len(large) > 1 else name for name, share in large.items()]
        script = f"{' and '.join(names)} script" + ("s" if len(large) > 1 else "")
        capitals = "no capitals" if self.capitals < FEW_CAPITALS else "capitals"
        return f"{script}, {capitals}" if names else "no letters"


@lru_cache(maxsize=1 << 12)
def _script(letter: str) -> str:
    """The first word of a letter's Unicode name is its script, or nearly so."""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "Han" if name == "CJK" else name.capitalize() or "Unnamed"


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()
