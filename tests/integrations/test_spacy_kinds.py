"""The spaCy component labels entities with their kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.typed_finder import KINDS, TypedFinder

spacy = pytest.importorskip("spacy")
from thresher.integrations.spacy import ThresherPipe  # noqa: E402 (needs spaCy)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@given(st.lists(st.sampled_from([*KINDS, "Havfruen", "left", "and"]), min_size=1, max_size=12))
def test_entities_have_the_kinds_of_the_finder(nlp, words):
    pipe = ThresherPipe(label="OTHER")
    pipe._finder = finder = TypedFinder()
    doc = pipe(nlp(" ".join(words)))
    expected = finder.find(doc.text)
    assert [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] == [
        (span.start, span.end, span.kind or "OTHER") for span in expected
    ]
    assert [ent._.thresher_kind_score for ent in doc.ents] == [s.kind_score for s in expected]
