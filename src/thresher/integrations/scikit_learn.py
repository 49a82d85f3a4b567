"""A scikit-learn transformer: texts to a sparse matrix of entity counts."""

from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer

from thresher.entities.finder import EntityFinder
from thresher.entities.finding.text_finder import refuse_string


class EntityVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts how often each entity is named in each text.

    model: an `EntityFinder`, a folder written by `thresher fit`, or None for the built-in model
    threshold: the minimum score of an entity; None for the model's own
    lowercase: count names that differ only in their case as one
    min_df, max_features: as in scikit-learn's `CountVectorizer`

    >>> make_pipeline(EntityVectorizer(), LogisticRegression()).fit(texts, labels)
    """

    def __init__(
        self,
        model: EntityFinder | str | None = None,
        *,
        threshold: float | None = None,
        lowercase: bool = True,
        min_df: float = 1,
        max_features: int | None = None,
    ) -> None:
        self.model = model
        self.threshold = threshold
        self.lowercase = lowercase
        self.min_df = min_df
        self.max_features = max_features

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn which entities are named in the texts."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> Any:
        """Learn which entities are named, and return their counts: (texts, entities)."""
        self.finder_ = self._finder()
        self.vectorizer_ = CountVectorizer(
            analyzer=_unchanged, min_df=self.min_df, max_features=self.max_features
        )
        return self.vectorizer_.fit_transform(self._names(texts))

    def transform(self, texts: Iterable[str]) -> Any:
        """Return the counts of the entities that were learned: (texts, entities)."""
        return self.vectorizer_.transform(self._names(texts))

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Return the names of the entities, in the order of the columns."""
        return self.vectorizer_.get_feature_names_out()

    def _finder(self) -> EntityFinder:
        if isinstance(self.model, EntityFinder):
            return self.model
        return EntityFinder.default() if self.model is None else EntityFinder.load(self.model)

    def _names(self, texts: Iterable[str]) -> list[list[str]]:
        texts = refuse_string(texts, "texts", "[text]")
        found = self.finder_.find(texts, threshold=self.threshold)
        return [
            [span.text.casefold() if self.lowercase else span.text for span in spans]
            for spans in found
        ]


def _unchanged(names: list[str]) -> list[str]:
    return names
