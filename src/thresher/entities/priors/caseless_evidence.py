"""Evidence for names in scripts without capitals, from raw text.

Each kind of evidence gives every word a score, higher for likelier entities, and NaN where it does
not apply. `EvidencePrior` normalizes several kinds and averages them; the words with the highest
averages, as many as entities are expected, count as entities.

To add a kind of evidence, write a class with the method `scores` and add it to `EVIDENCE` in
prior_knowledge.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.priors.affixes import Affixes
from thresher.entities.priors.casing import is_word
from thresher.entities.priors.word_statistics import PASSAGE
from thresher.text.indexed_sentences import IndexedSentences

EvidenceScores = NDArray[np.float64]
Sentences = Sequence[Sequence[str]]
_SMOOTHING = 3.0  # pseudo-count of the overall mean in the mean of a context


class Evidence(Protocol):
    """Scores the words of raw sentences."""

    def scores(self, sentences: Sentences) -> EvidenceScores:
        """Return one score per word, NaN where the evidence does not apply: (words,)."""
        ...


@dataclass(frozen=True)
class Burstiness:
    """How strongly the occurrences of a word cluster: names occur repeatedly in few texts.

    With n occurrences of a stem in d of D passages, the score is log D(1 − e^{−n/D}) / d: the log
    ratio of the passages expected if occurrences were spread at random (Poisson) to the actual
    ones. Words are counted by their stems, because prefixed prepositions hide repetitions in some
    languages: ከአዲስ after የአዲስ.

    caseless_only: score only words of scripts without case
    """

    affixes: Affixes
    caseless_only: bool = False

    @classmethod
    def from_sentences(cls, sentences: Sentences, *, caseless_only: bool = False) -> "Burstiness":
        """Use the affixes of the words of these sentences."""
        words = frozenset(_folded(sentences, caseless_only).vocabulary) - {""}
        return cls(Affixes.from_words(words), caseless_only)

    def stems(self, sentences: Sentences) -> IndexedSentences:
        """Replace each word by its stem, and everything that is not scored by ""."""
        return _folded(sentences, self.caseless_only).replace_words(self.affixes.stem)

    def scores(self, sentences: Sentences) -> EvidenceScores:
        """Return the log ratio; NaN for punctuation, numbers and stems that occur once."""
        stems = self.stems(sentences)
        total = math.ceil(len(stems) / PASSAGE)

        def stem_score(stem: str, count: int, passages: int) -> float:
            if count < 2 or not stem:
                return math.nan
            return math.log(total * -math.expm1(-count / total) / passages)

        counts, passages = stems.word_counts().tolist(), stems.passage_counts(PASSAGE).tolist()
        scores = list(map(stem_score, stems.vocabulary, counts, passages))
        return np.array(scores, dtype=np.float64)[stems.word_ids]


@dataclass(frozen=True)
class Contexts:
    """How bursty other words are that occur in the same contexts.

    A context is the word before (or after). Its score is the mean burstiness of the distinct other
    stems in that context, smoothed with three pseudo-counts of the overall mean; a word gets the
    mean of its two contexts.
    """

    burstiness: Burstiness

    def scores(self, sentences: Sentences) -> EvidenceScores:
        """Return the mean score of both contexts; NaN for punctuation and numbers."""
        burstiness = self.burstiness.scores(sentences)
        stems = self.burstiness.stems(sentences)
        words = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
        sentence = words.sentence_of_word()
        has_neighbour = sentence[1:] == sentence[:-1]
        outside = len(words.vocabulary)  # the id of the context at the edge of a sentence
        before, after = np.full((2, len(sentence)), outside)
        before[1:][has_neighbour] = words.word_ids[:-1][has_neighbour]
        after[:-1][has_neighbour] = words.word_ids[1:][has_neighbour]
        both = (_mean_of_others(context, stems, burstiness) for context in (before, after))
        return np.where(stems.map_words(bool, np.bool_), sum(both) / 2, math.nan)


@dataclass(frozen=True)
class SurprisalEvidence:
    """The surprisal of each word under a language model of the same text.

    surprisal: (words,), in nats, of the sentences that will be scored
    """

    surprisal: NDArray[np.float32]

    def scores(self, sentences: Sentences) -> EvidenceScores:
        """Return the surprisal; NaN for punctuation and numbers."""
        words = _folded(sentences)
        if len(words.word_ids) != len(self.surprisal):
            counts = f"{len(self.surprisal)} for {len(words.word_ids)} words"
            raise ValueError(f"`surprisal` must have one value per word, got {counts}")
        return np.where(words.map_words(bool, np.bool_), self.surprisal, math.nan)


@dataclass(frozen=True)
class EvidencePrior:
    """Gives the words with the most evidence the probability 1, and other scored words 0.

    rate: the fraction of scored words that are entities
    negatives_only: give the words with the most evidence no probability, because names are known
        from a list
    """

    evidence: Sequence[Evidence]
    rate: float
    negatives_only: bool = False

    def probabilities(self, sentences: Sentences) -> NDArray[np.float32]:
        """Return 1, 0, or NaN for words without a score: (words,)."""
        combined = self.combined(sentences)
        scored = ~np.isnan(combined)
        probabilities = np.where(scored, 0.0, math.nan).astype(np.float32)
        entities = round(self.rate * scored.sum())
        if entities:
            scores = combined[scored]
            min_score = max(np.sort(scores)[-entities], np.nextafter(np.median(scores), math.inf))
            probabilities[scored & (combined >= min_score)] = (
                math.nan if self.negatives_only else 1.0
            )
        return probabilities

    def combined(self, sentences: Sentences) -> EvidenceScores:
        """Return the mean of the normal scores of all evidence that applies to a word: (words,)."""
        scores = np.stack([normal_scores(each.scores(sentences)) for each in self.evidence])
        applies = ~np.isnan(scores)
        sums = np.where(applies, scores, 0.0).sum(0)
        return np.where(applies.any(0), sums / np.maximum(applies.sum(0), 1), math.nan)


def normal_scores(values: EvidenceScores) -> EvidenceScores:
    """Return Φ⁻¹((rank − ½) / n), with the mean rank for ties; NaN stays NaN."""
    known = ~np.isnan(values)
    distinct, position, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    quantiles = torch.special.ndtri(torch.from_numpy((ranks - 0.5) / max(known.sum(), 1))).numpy()
    scores = np.full(len(values), math.nan)
    scores[known] = quantiles[position] if len(distinct) else []
    return scores


def _mean_of_others(
    context: NDArray[np.int64], stems: IndexedSentences, scores: EvidenceScores
) -> EvidenceScores:
    """Return for each word the smoothed mean score of the other stems in its context: (words,).

    context: (words,), an id   scores: (words,), equal for all occurrences of a stem
    """
    known = ~np.isnan(scores)
    overall_mean = float(scores[known].mean()) if known.any() else 0.0
    pairs = context[known] * len(stems.vocabulary) + stems.word_ids[known]
    first = np.sort(np.unique(pairs, return_index=True)[1])  # a stem counts once in a context
    seen, contexts = context[known][first], context.max(initial=0) + 1
    stem_counts = np.bincount(seen, minlength=contexts)[context]
    sums = np.bincount(seen, weights=scores[known][first], minlength=contexts)[context]
    others = sums - np.where(known, scores, 0.0)
    return (others + _SMOOTHING * overall_mean) / (stem_counts - known + _SMOOTHING)


def _folded(sentences: Sentences, caseless_only: bool = False) -> IndexedSentences:
    """Case-fold words; replace punctuation, numbers, addresses and excluded words by ""."""

    def folded(word: str) -> str:
        excluded = caseless_only and word.upper() != word.lower()
        return word.casefold() if is_word(word) and not excluded else ""

    return IndexedSentences.from_sentences(sentences).replace_words(folded)
