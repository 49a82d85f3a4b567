"""Entity counts in scikit-learn pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from thresher import EntityFinder, InputError
from thresher.integrations.scikit_learn import EntityVectorizer

TEXTS = ["Magda went to Oslo.", "Magda saw Rosa and Rosa left.", "the letter ."]


@pytest.fixture(scope="module")
def finder(small):
    return EntityFinder.load(small, device="cpu")


def test_counts_are_those_of_the_found_names(finder):
    vectorizer = EntityVectorizer(finder, threshold=0.05)
    counts = vectorizer.fit_transform(TEXTS).toarray()
    names = list(vectorizer.get_feature_names_out())
    assert names
    for row, text in zip(counts, TEXTS, strict=True):
        found = [span.text.casefold() for span in finder.find(text, threshold=0.05)]
        assert [found.count(name) for name in names] == row.tolist()
    assert np.array_equal(vectorizer.transform(TEXTS).toarray(), counts)


def test_it_is_cloned_and_part_of_a_pipeline(small):
    vectorizer = clone(EntityVectorizer(str(small), threshold=0.05, lowercase=False))
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    assert pipeline.fit(TEXTS[:2], [0, 1]).predict(TEXTS[:2]).tolist() == [0, 1]


@pytest.mark.parametrize("texts", ["Magda", pd.DataFrame({"Oslo": ["Magda"]})])
def test_a_string_and_a_table_are_refused(finder, texts):
    """Their characters and the names of their columns would be counted."""
    with pytest.raises(InputError, match="`texts` must be a list of strings"):
        EntityVectorizer(finder, threshold=0.05).fit(texts)
