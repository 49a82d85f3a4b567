"""A finder that chooses the built-in English or multilingual model for each text."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np

from thresher.entities.built_in import ENGLISH, MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.adaptation import first_words
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.text_finder import (
    SplitText,
    TextFinder,
    refuse_string,
    split_into_words,
)
from thresher.entities.model_config import WORDS
from thresher.text.language import is_english

THRESHOLD = 0.4  # near those of both models
_SAMPLE = 1000  # words at the start of a text, which decide on its model


class AutoFinder(TextFinder):
    """Finds the entities of English texts with the English model, of others with `multilingual`.

    A model is loaded when the first text needs it. The scores of spans are shifted in log-odds, so
    that both models have the same threshold.

    >>> AutoFinder.load().find("Marie Curie flyttede til Paris.")
    [Span(start=0, end=11, text='Marie Curie', score=…), Span(start=25, end=30, text='Paris', …)]
    """

    def __init__(self, load: Callable[[str], EntityFinder]) -> None:
        self._finder: Callable[[str], EntityFinder] = cache(load)

    @classmethod
    def load(cls, *, device: str | None = None, exact: bool = False) -> Self:
        """Return a finder; see `EntityFinder.load`."""
        return cls(partial(EntityFinder.load, device=device, exact=exact))

    def adapted_to(self, texts: Iterable[str]) -> Self:
        """Return a finder whose models are adapted, each to those of the texts that it reads."""
        texts = refuse_string(texts, "texts", "adapted_to([text])")
        return self.adapted_to_words(split_into_words(texts))

    def adapted_to_words(self, texts: Iterable[SplitText]) -> Self:
        """Adapt as `adapted_to` does, to texts that are already split into words."""
        adapted = {
            name: self._finder(name).adapted_to_words(own)
            for name, own in texts_by_model(first_words(texts)).items()
        }
        finder = copy(self)
        finder._finder = lambda name: adapted[name] if name in adapted else self._finder(name)
        return finder

    @property
    def threshold(self) -> float:
        """The smallest score of a candidate that counts as an entity."""
        return THRESHOLD

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that spans of one of the models can have."""
        models = map(self._finder, (ENGLISH, MULTILINGUAL))
        return tuple(dict.fromkeys(kind for model in models for kind in model.kinds))

    def _score(self, texts: Sequence[SplitText]) -> list[ScoredSentence]:
        chosen = [model_for(sentences) for sentences in texts]
        scored: dict[int, list[ScoredSentence]] = {}
        for name in dict.fromkeys(chosen):
            numbers = [number for number, each in enumerate(chosen) if each == name]
            finder = self._finder(name)
            results = iter(finder._score([texts[number] for number in numbers]))
            for number in numbers:
                own = islice(results, len(texts[number]))
                scored[number] = [_with_threshold(each, finder.threshold) for each in own]
        return [sentence for number in range(len(texts)) for sentence in scored[number]]


def texts_by_model(texts: Iterable[SplitText]) -> dict[str, list[SplitText]]:
    """Return the texts that each model reads, by its name."""
    chosen: dict[str, list[SplitText]] = {}
    for text in texts:
        chosen.setdefault(model_for(text), []).append(text)
    return chosen


def model_for(sentences: SplitText) -> str:
    """Return the name of the model for a text that is split into sentences and words."""
    sample = islice(chain.from_iterable(sentences), _SAMPLE)
    return ENGLISH if is_english(sample, _english_words()) else MULTILINGUAL


@cache
def _english_words() -> frozenset[str]:
    """Return the ordinary words of the English model; reading them takes some milliseconds."""
    path = Path(__file__).parent / ENGLISH / WORDS
    return frozenset(path.read_text(encoding="utf-8").splitlines())


def _with_threshold(sentence: ScoredSentence, threshold: float) -> ScoredSentence:
    """Shift the scores of candidates in log-odds, so that `threshold` becomes `THRESHOLD`."""
    shift = _log_odds(THRESHOLD) - _log_odds(threshold)
    shifted = [
        each._replace(score=float(1 / (1 + np.exp(-_log_odds(each.score) - shift))))
        for each in sentence.candidates
    ]
    return replace(sentence, candidates=shifted)


def _log_odds(p: float) -> float:
    p = min(max(p, 1e-9), 1 - 1e-9)
    return float(np.log(p) - np.log1p(-p))
