"""Articles that are part of names: "in The Forge", but not "The Forge is"."""

import numpy as np

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import CAPITALISED_ARTICLES
from thresher.entities.priors.casing import Casing, casing_of_words
from thresher.text.indexed_sentences import IndexedSentences


def with_own_articles(sentences: IndexedSentences, found: CandidateArrays) -> CandidateArrays:
    """Return the candidates with the articles before them that are part of names."""
    article = sentences.map_words(CAPITALISED_ARTICLES.__contains__, np.bool_)
    first = sentences.starts[found.sentence]
    after = np.flatnonzero(article[found.starts - 1] & (found.starts > first))
    if not len(after):
        return found
    # The case of a sentence is needed only if a candidate is directly after such an article.
    numbers, own = np.unique(found.sentence[after], return_inverse=True)
    some = IndexedSentences.from_sentences(sentences[number] for number in numbers.tolist())
    capital = casing_of_words(some) == Casing.CAPITAL
    is_own = capital[some.starts[own] + found.starts[after] - first[after] - 1]
    starts = found.starts.copy()
    starts[after[is_own]] -= 1
    return found._replace(starts=starts)
