"""What tells names in a script without capitals: evidence that needs no case and no label.

Each kind of evidence gives every word a number, the higher the likelier an entity, NaN where it
cannot tell. Several are put on one scale and averaged; of the words with letters, the share that
is expected to be entities has the highest (`EvidencePrior`).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.affixes import Affixes
from thresher.entities.casing import has_letters, is_address
from thresher.entities.statistics import PASSAGE

Numbers = NDArray[np.float64]
Sentences = Sequence[Sequence[str]]
_FEW = 3.0  # other words of a frame that weigh as much as knowing nothing of it


class Evidence(Protocol):
    """Reads raw sentences, each a sequence of words."""

    def numbers(self, sentences: Sentences) -> Numbers:
        """One number per word, NaN where there is nothing to go by: (words,)."""
        ...


@dataclass(frozen=True)
class Burstiness:
    """How far the occurrences of a word keep together: names come in few texts, and again there.

    With n occurrences of a stem in d of D passages, it is log D(1 − e^{−n/D}) / d: of how many
    passages it would be in if it fell anywhere (Poisson) to how many it is in. A language that
    writes prepositions into the word hides that a name comes again: ከአዲስ after የአዲስ. So words are
    counted by their stems.
    """

    affixes: Affixes
    caseless: bool = False

    @classmethod
    def of(cls, sentences: Sentences, *, caseless: bool = False) -> "Burstiness":
        """With the affixes of the sentences' own words.

        caseless: of words in scripts without case alone, where a text has others too
        """
        return cls(Affixes.of(frozenset(_folded(sentences, caseless)) - {""}), caseless)

    def stems(self, sentences: Sentences) -> list[str]:
        """The stem of each word, empty for what is no word."""
        return [self.affixes.stem(word) for word in _folded(sentences, self.caseless)]

    def numbers(self, sentences: Sentences) -> Numbers:
        """The log ratio; NaN for signs, numbers and stems that come once."""
        count: Counter[str] = Counter()
        passages: defaultdict[str, set[int]] = defaultdict(set)
        for number, words in enumerate(sentences):
            for stem in self.stems([words]):
                count[stem] += 1
                passages[stem].add(number // PASSAGE)
        total = math.ceil(len(sentences) / PASSAGE)

        def of_stem(stem: str) -> float:
            if count[stem] < 2 or not stem:
                return math.nan
            return math.log(total * -math.expm1(-count[stem] / total) / len(passages[stem]))

        known = {stem: of_stem(stem) for stem in count}
        return _numbers(known[stem] for stem in self.stems(sentences))


@dataclass(frozen=True)
class Contexts:
    """How bursty the other words are that stand in the same places.

    A place is the word before (or after). Its number is the mean over the different other stems
    seen there, pulled to the mean of all by three more; a word has the mean of both its places.
    """

    within: Burstiness

    def numbers(self, sentences: Sentences) -> Numbers:
        """The mean of both places; NaN for signs and numbers."""
        own = self.within.numbers(sentences)
        stems = self.within.stems(sentences)
        sides: tuple[list[str], list[str]] = ([], [])
        for words in sentences:
            folded = ["", *(word.casefold() for word in words), ""]
            sides[0].extend(folded[:-2])
            sides[1].extend(folded[2:])
        both = (_others_in_place(side, stems, own) for side in sides)
        return np.where([bool(stem) for stem in stems], sum(both) / 2, math.nan)


@dataclass(frozen=True)
class Surprise:
    """How little a language model of the same text expects a word: (words,), nats.

    surprisal: of every word of the sentences that it will be asked for
    """

    surprisal: NDArray[np.float32]

    def numbers(self, sentences: Sentences) -> Numbers:
        """The surprisal; NaN for signs and numbers."""
        words = _folded(sentences)
        if len(words) != len(self.surprisal):
            raise ValueError(f"{len(self.surprisal)} surprisals for {len(words)} words")
        return np.where([bool(word) for word in words], self.surprisal, math.nan)


@dataclass(frozen=True)
class EvidencePrior:
    """The words with the most evidence are entities, the others are not.

    rate: which share of the words with evidence are entities; those without have no opinion
    open: leave the highest without an opinion, where something surer tells of them
    """

    evidence: Sequence[Evidence]
    rate: float
    open: bool = False

    def opinions(self, sentences: Sentences) -> NDArray[np.float32]:
        """1 for the highest, 0 for the others, NaN for no opinion: (words,)."""
        combined = self.combined(sentences)
        told = ~np.isnan(combined)
        opinions = np.where(told, 0.0, math.nan).astype(np.float32)
        most = round(self.rate * told.sum())
        if most:
            known = combined[told]
            least = max(np.sort(known)[-most], np.nextafter(np.median(known), math.inf))
            opinions[told & (combined >= least)] = math.nan if self.open else 1.0
        return opinions

    def combined(self, sentences: Sentences) -> Numbers:
        """The mean of the normal scores of all evidence there is of a word: (words,)."""
        scores = np.stack([normal_scores(each.numbers(sentences)) for each in self.evidence])
        told = ~np.isnan(scores)
        sums = np.where(told, scores, 0.0).sum(0)
        return np.where(told.any(0), sums / np.maximum(told.sum(0), 1), math.nan)


def normal_scores(numbers: Numbers) -> Numbers:
    """Φ⁻¹((rank − ½) / n), equal numbers at their mean rank; NaN stays: any scale becomes one."""
    told = ~np.isnan(numbers)
    values, place, times = np.unique(numbers[told], return_inverse=True, return_counts=True)
    ranks = np.cumsum(times) - (times - 1) / 2
    scores = torch.special.ndtri(torch.from_numpy((ranks - 0.5) / max(told.sum(), 1))).numpy()
    placed = np.full(len(numbers), math.nan)
    placed[told] = scores[place] if len(values) else []
    return placed


def _others_in_place(places: Sequence[str], stems: Sequence[str], numbers: Numbers) -> Numbers:
    """For each word, the mean number of the other stems in its place, pulled to that of all."""
    known = ~np.isnan(numbers)
    everywhere = float(numbers[known].mean()) if known.any() else 0.0
    seen: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for place, stem, number, told in zip(places, stems, numbers, known, strict=True):
        if told:
            seen[place][stem] = number
    sums = {place: sum(those.values()) for place, those in seen.items()}

    def mean(place: str, stem: str) -> float:
        those = seen.get(place, {})
        own, one = (those[stem], 1) if stem in those else (0.0, 0)
        total = sums.get(place, 0.0) - own
        return (total + _FEW * everywhere) / (len(those) - one + _FEW)

    return _numbers(mean(place, stem) for place, stem in zip(places, stems, strict=True))


def _folded(sentences: Sentences, caseless: bool = False) -> list[str]:
    """Every word in no case; signs, numbers, addresses and words with case as the empty word."""
    return [
        word.casefold()
        if _is_word(word) and not (caseless and word.upper() != word.lower())
        else ""
        for words in sentences
        for word in words
    ]


def _is_word(word: str) -> bool:
    return has_letters(word) and not is_address(word)


def _numbers(values: Iterable[float]) -> Numbers:
    return np.fromiter(values, dtype=np.float64)
