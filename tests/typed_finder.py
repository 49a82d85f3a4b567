"""A finder for tests of outputs: capitalised words are entities, a dictionary has their kinds."""

import numpy as np

from thresher.entities.finding.decoding import decode
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import TextFinder

PEOPLE = "Ingrid Tomasz Magda Elias Jensen Huang Marie Curie Obama".split()
PLACES = "Oslo Larvik Hull Paris".split()
KINDS = dict.fromkeys(PEOPLE, "person") | dict.fromkeys(PLACES, "place")


class TypedFinder(TextFinder):
    """Scores capitalised words 0.9; the kind of an entity is that of its last word, if known."""

    lacks_int8 = False

    def __init__(self, kinds=None):
        self.kind_of = KINDS if kinds is None else kinds

    @property
    def threshold(self):
        return 0.5

    @property
    def kinds(self):
        return tuple(dict.fromkeys(self.kind_of.values()))

    def _score(self, texts):
        sentences = [words for text in texts for words in text]
        return [self._sentence(words) for words in sentences]

    def _sentence(self, words):
        is_name = [word[0].isupper() and word not in ("The", "In", "When") for word in words]
        scores = np.where(is_name, 0.9, 0.05)
        [candidates] = decode([words], scores)
        typed = [self._typed(each, words) for each in candidates]
        return ScoredSentence(words, scores, typed)

    def _typed(self, candidate, words):
        kind = self.kind_of.get(words[candidate.end - 1].capitalize().removesuffix("'s"))
        return candidate._replace(kind=kind, kind_score=None if kind is None else 0.75)
