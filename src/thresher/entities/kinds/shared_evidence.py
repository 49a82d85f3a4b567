"""Mentions of the same entity in a text share their evidence for its kind.

All occurrences of a name in a text are taken for the same entity. A longer name that ends with it
is stronger evidence: "Magda Nowak" shows that "Nowak" is a person. Longer names with a joining word
are left out, because "Battle of Waterloo" does not show what "Waterloo" is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from thresher.entities.finding.candidate_arrays import CandidateArrays, Indices, Name
from thresher.entities.kinds.classifier import LogProbabilities, log_softmax
from thresher.entities.priors.word_lists import JOINERS
from thresher.text.indexed_sentences import IndexedSentences

_SHARED = 0.5  # the weight of the mean over all mentions of an entity in the text
_FULL_NAME = 3.0  # the weight of a longer name; an occurrence of the name itself has 1
_MAX_WORDS = 4  # of a longer name


@dataclass(frozen=True)
class Mentions:
    """The spans of some texts, grouped by their names without case.

    words: the case-folded words of each span
    names: (spans,), the number of each span's name; the same name in two texts has two numbers
    full_names: (pairs,), spans that end with another, shorter name of the same text
    short_names: (pairs,), the numbers of these shorter names
    """

    words: Sequence[Name]
    names: Indices
    full_names: Indices
    short_names: Indices

    @classmethod
    def of(
        cls, sentences: IndexedSentences, found: CandidateArrays, text_lengths: Sequence[int]
    ) -> "Mentions":
        """Group the candidates of texts.

        text_lengths: the number of sentences of each text
        """
        names = found.names(sentences)
        bounds = np.searchsorted(found.sentence, np.cumsum([0, *text_lengths])).tolist()
        return cls.in_texts([names[low:high] for low, high in pairwise(bounds)])

    @classmethod
    def in_texts(cls, texts: Sequence[Sequence[Name]]) -> "Mentions":
        """Group the spans of texts.

        texts: for each text the case-folded words of its spans
        """
        names: list[int] = []
        pairs: list[tuple[int, int]] = []
        next_number = 0
        for spans in texts:
            numbers: dict[Name, int] = {}
            first = len(names)
            names += [numbers.setdefault(name, next_number + len(numbers)) for name in spans]
            pairs += [
                (span, numbers[words[-1:]])
                for span, words in enumerate(spans, first)
                if 1 < len(words) <= _MAX_WORDS
                and words[-1:] in numbers
                and JOINERS.isdisjoint(words)
            ]
            next_number += len(numbers)
        full_names, short_names = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        words = list(chain.from_iterable(texts))
        return cls(words, np.array(names, dtype=np.int64), full_names, short_names)

    def share(self, log_probabilities: LogProbabilities) -> LogProbabilities:
        """Average the log-probabilities of each span with the mean of its entity's mentions.

        log_probabilities: (spans, kinds)
        """
        if not len(self.names):
            return log_probabilities
        name = np.concatenate([self.names, self.short_names])
        span = np.concatenate([np.arange(len(self.names)), self.full_names])
        weight = np.repeat([1.0, _FULL_NAME], [len(self.names), len(self.full_names)])
        weight = weight.astype(np.float32)[:, None]
        sums = np.zeros((name.max() + 1, log_probabilities.shape[1] + 1), dtype=np.float32)
        np.add.at(sums, name, np.hstack([weight * log_probabilities[span], weight]))
        means = (sums[:, :-1] / sums[:, -1:])[self.names]
        mixed = (1 - _SHARED) * log_probabilities + _SHARED * means
        return log_softmax(mixed.astype(np.float32, copy=False))
