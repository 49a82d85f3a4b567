"""Repeated mentions of a name within a text support each other.

Candidates with the same words (in any case) are mentions of the same name. Their scores are raised
to the score that two thirds of the mentions in the text reach. So a name that is found nearly
everywhere is found everywhere, and a word that is rarely taken for a name is not changed. Scores
are never lowered.
"""

import numpy as np

from thresher.entities.finding.candidate_arrays import CandidateArrays, Indices

_UNSUPPORTED = 3  # one in three mentions may have a lower score


def with_repeated_mentions(found: CandidateArrays, names: Indices) -> CandidateArrays:
    """Return the candidates with scores that other mentions support.

    names: (candidates,), the number of the name of each candidate; the same name in two texts has
        two numbers
    """
    by_name = np.lexsort((found.scores, names))
    counts = np.bincount(names)
    first = np.cumsum(counts) - counts
    least = found.scores[by_name[first + counts // _UNSUPPORTED]]
    return found._replace(scores=np.maximum(found.scores, least[names]))
