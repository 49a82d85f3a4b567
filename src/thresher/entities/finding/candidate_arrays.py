"""The candidates of many sentences as arrays: each step is one pass over all of them."""

from collections.abc import Sequence
from itertools import chain, pairwise, starmap
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
        flat = list(chain.from_iterable(candidates))
        sentence = np.repeat(np.arange(len(counts)), counts)
        offset = sentences.starts[sentence]
        return cls(
            offset + np.array([each.start for each in flat], dtype=np.int64),
            offset + np.array([each.end for each in flat], dtype=np.int64),
            np.array([each.score for each in flat], dtype=np.float64),
            sentence,
        )

    @classmethod
    def from_spans(
        cls,
        sentences: IndexedSentences,
        starts: Indices,
        ends: Indices,
        scores: NDArray[np.float64],
    ) -> "CandidateArrays":
        """Return candidates whose words are counted through all sentences."""
        return cls(starts, ends, scores, np.searchsorted(sentences.starts, starts, "right") - 1)

    def rows(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> "CandidateArrays":
        """Return some of the candidates."""
        return CandidateArrays(
            self.starts[index], self.ends[index], self.scores[index], self.sentence[index]
        )

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
