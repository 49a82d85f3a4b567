"""The candidates of many sentences as arrays: each step is one pass over all of them."""

from collections.abc import Sequence
from itertools import chain, pairwise, starmap
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.text.indexed_sentences import IndexedSentences

Indices = NDArray[np.int64]
Name = tuple[str, ...]  # the case-folded words of a name


class CandidateArrays(NamedTuple):
    """Candidates, one sentence after the other: (candidates,) each.

    starts, ends: words, counted through all sentences   scores: of the candidates
    sentence: the index of the sentence of each
    """

    starts: Indices
    ends: Indices
    scores: NDArray[np.float64]
    sentence: Indices

    @classmethod
    def of(
        cls, sentences: IndexedSentences, candidates: Sequence[Sequence[Candidate]]
    ) -> "CandidateArrays":
        """Return the candidates of each sentence as arrays."""
        counts = list(map(len, candidates))
        start, end, score = (
            np.fromiter(map(itemgetter(field), chain.from_iterable(candidates)), dtype, sum(counts))
            for field, dtype in enumerate((np.int64, np.int64, np.float64))
        )
        sentence = np.repeat(np.arange(len(counts)), counts)
        offset = sentences.starts[sentence]
        return cls(start + offset, end + offset, score, sentence)

    @classmethod
    def from_spans(
        cls,
        sentences: IndexedSentences,
        starts: Sequence[int] | Indices,
        ends: Sequence[int] | Indices,
        scores: Sequence[float] | NDArray[np.float64],
    ) -> "CandidateArrays":
        """Return candidates whose words are counted through all sentences."""
        arrays = np.asarray(starts, np.int64), np.asarray(ends, np.int64), np.asarray(scores, float)
        return cls(*arrays, np.searchsorted(sentences.starts, arrays[0], side="right") - 1)

    def rows(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> "CandidateArrays":
        """Return some of the candidates."""
        return CandidateArrays(*(each[index] for each in self))

    def names(self, sentences: IndexedSentences) -> list[Name]:
        """Return the case-folded words of each candidate."""
        folded = list(map(str.casefold, sentences.vocabulary))
        words = list(map(folded.__getitem__, sentences.word_ids.tolist()))
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [tuple(words[start:end]) for start, end in bounds]

    def by_sentence(self, sentences: IndexedSentences, *kinds: list[Any]) -> list[list[Candidate]]:
        """Return the candidates of each sentence.

        kinds: the kind and the kind score of each candidate, if they are known
        """
        offset = sentences.starts[self.sentence]
        arrays = (self.starts - offset, self.ends - offset, self.scores)
        columns = [*(each.tolist() for each in arrays), *kinds]
        made = list(starmap(Candidate, zip(*columns, strict=True)))
        bounds = np.searchsorted(self.sentence, np.arange(len(sentences) + 1))
        return [made[low:high] for low, high in pairwise(bounds.tolist())]
