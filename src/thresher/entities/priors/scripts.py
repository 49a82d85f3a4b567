"""Detect the scripts of a text and whether it uses capitals; choose priors accordingly."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from thresher.entities.choices import PriorName
from thresher.entities.priors.casing import is_capitalised
from thresher.text.indexed_sentences import IndexedSentences
from thresher.text.scripts import script_of

MIN_FRACTION = 0.05  # of the letters; a script with fewer is used in names and quotations
_UNSPACED = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"}
MIN_CAPITALS = 0.005  # of the words; fewer are accidental


@dataclass(frozen=True)
class ScriptProfile:
    """The scripts of a text and its use of case.

    scripts: the fraction of letters in each script, the largest first
    caseless: the fraction of letters without case
    capitals: the fraction of words that have a capital
    """

    scripts: dict[str, float]
    caseless: float
    capitals: float

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sequence[str]]) -> Self:
        """Count letters by script and case."""
        words = IndexedSentences.from_sentences(sentences)
        letters: Counter[str] = Counter()
        for word, times in zip(words.vocabulary, words.word_counts().tolist(), strict=True):
            for letter in filter(str.isalpha, word):
                letters[letter] += times
        total = max(letters.total(), 1)
        scripts: Counter[str] = Counter()
        for letter, times in letters.items():
            scripts[script_of(letter)] += times
        return cls(
            {name: times / total for name, times in scripts.most_common()},
            sum(times for letter, times in letters.items() if not _has_case(letter)) / total,
            int(words.map_words(is_capitalised, np.bool_).sum()) / max(len(words.word_ids), 1),
        )

    @property
    def default_priors(self) -> tuple[PriorName, ...]:
        """The priors for this text: casing where there are capitals, else burstiness, or both."""
        if self.capitals < MIN_CAPITALS:
            return (PriorName.BURSTINESS,)
        with_case = (PriorName.REPETITION, PriorName.CASING)
        return with_case if self.caseless < MIN_FRACTION else (PriorName.BURSTINESS, *with_case)

    @property
    def is_mixed(self) -> bool:
        """True if the text mixes scripts with and without case."""
        return MIN_FRACTION <= self.caseless <= 1 - MIN_FRACTION

    @property
    def is_unspaced(self) -> bool:
        """True if part of the text is in a script without spaces between words."""
        return sum(self.scripts.get(name, 0.0) for name in _UNSPACED) >= MIN_FRACTION

    @property
    def main_scripts(self) -> list[str]:
        """The scripts of at least a twentieth of the letters, the largest first."""
        return [name for name, part in self.scripts.items() if part >= MIN_FRACTION]

    def __str__(self) -> str:
        """Return a description such as "Ethiopic script, no capitals"."""
        large = {name: self.scripts[name] for name in self.main_scripts}
        names = [f"{name} {part:.0%}" if len(large) > 1 else name for name, part in large.items()]
        script = f"{' and '.join(names)} script" + ("s" if len(large) > 1 else "")
        capitals = "no capitals" if self.capitals < MIN_CAPITALS else "capitals"
        return f"{script}, {capitals}" if names else "no letters"


def _has_case(letter: str) -> bool:
    return letter.lower() != letter.upper()
