"""What tells names in a script without capitals: evidence that needs no case and no label.

Each kind of evidence gives every word a number, the higher the likelier an entity, NaN where it
cannot tell. Several are put on one scale and averaged; of the words with letters, the share that
is expected to be entities has the highest (`EvidencePrior`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.priors.affixes import Affixes
from thresher.entities.priors.casing import has_letters, is_address
from thresher.entities.priors.word_statistics import PASSAGE
from thresher.text.indexed_sentences import IndexedSentences

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
        return cls(Affixes.of(frozenset(_folded(sentences, caseless).vocabulary) - {""}), caseless)

    def stems(self, sentences: Sentences) -> IndexedSentences:
        """The stem of each word, empty for what is no word."""
        return _folded(sentences, self.caseless).replace_words(self.affixes.stem)

    def numbers(self, sentences: Sentences) -> Numbers:
        """The log ratio; NaN for signs, numbers and stems that come once."""
        stems = self.stems(sentences)
        total = math.ceil(len(stems) / PASSAGE)

        def of_stem(stem: str, count: int, passages: int) -> float:
            if count < 2 or not stem:
                return math.nan
            return math.log(total * -math.expm1(-count / total) / passages)

        counts, passages = stems.word_counts().tolist(), stems.passage_counts(PASSAGE).tolist()
        known = np.array(list(map(of_stem, stems.vocabulary, counts, passages)), dtype=np.float64)
        return known[stems.word_ids]


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
        words = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
        sentence = words.sentence_of_word()
        inner = sentence[1:] == sentence[:-1]
        before, after = np.full(
            (2, len(sentence)), len(words.vocabulary)
        )  # at the edge of a sentence
        before[1:][inner] = words.word_ids[:-1][inner]
        after[:-1][inner] = words.word_ids[1:][inner]
        both = (_others_in_place(side, stems, own) for side in (before, after))
        return np.where(stems.map_words(bool, np.bool_), sum(both) / 2, math.nan)


@dataclass(frozen=True)
class Surprise:
    """How little a language model of the same text expects a word: (words,), nats.

    surprisal: of every word of the sentences that it will be asked for
    """

    surprisal: NDArray[np.float32]

    def numbers(self, sentences: Sentences) -> Numbers:
        """The surprisal; NaN for signs and numbers."""
        words = _folded(sentences)
        if len(words.word_ids) != len(self.surprisal):
            raise ValueError(f"{len(self.surprisal)} surprisals for {len(words.word_ids)} words")
        return np.where(words.map_words(bool, np.bool_), self.surprisal, math.nan)


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


def _others_in_place(
    place: NDArray[np.int64], stems: IndexedSentences, numbers: Numbers
) -> Numbers:
    """For each word, the mean number of the other stems in its place, pulled to that of all.

    place: (words,)   numbers: (words,), the same wherever a stem comes
    """
    known = ~np.isnan(numbers)
    everywhere = float(numbers[known].mean()) if known.any() else 0.0
    pairs = place[known] * len(stems.vocabulary) + stems.word_ids[known]
    first = np.sort(np.unique(pairs, return_index=True)[1])  # a stem counts once in a place
    seen, places = place[known][first], place.max(initial=0) + 1
    stems_there = np.bincount(seen, minlength=places)[place]
    sums = np.bincount(seen, weights=numbers[known][first], minlength=places)[place]
    others = sums - np.where(known, numbers, 0.0)
    return (others + _FEW * everywhere) / (stems_there - known + _FEW)


def _folded(sentences: Sentences, caseless: bool = False) -> IndexedSentences:
    """Every word in no case; signs, numbers, addresses and words with case as the empty word."""

    def folded(word: str) -> str:
        left_out = caseless and word.upper() != word.lower()
        return word.casefold() if _is_word(word) and not left_out else ""

    return IndexedSentences.from_sentences(sentences).replace_words(folded)


def _is_word(word: str) -> bool:
    return has_letters(word) and not is_address(word)
