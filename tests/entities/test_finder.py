"""The finder as a user meets it: the built-in model, texts, offsets."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thresher.entities import finder as finder_module
from thresher.entities.finder import EntityFinder
from thresher.entities.finding import text_finder as reading
from thresher.errors import InputError


@pytest.fixture(scope="module")
def english(minilm):
    return EntityFinder.default(device="cpu")


def found(finder, text):
    return [span.text for span in finder.find(text)]


def test_the_built_in_model_finds_names_in_any_case(english):
    assert found(english, "Marie Curie moved to Paris.") == ["Marie Curie", "Paris"]
    assert found(english, "marie curie moved to paris.") == ["marie curie", "paris"]


def test_the_built_in_model_finds_nothing_in_plain_prose(english):
    assert found(english, "The cat sat on the mat and nobody minded, because it was late.") == []


def test_the_built_in_model_is_small():
    folder = Path(finder_module.__file__).parent / "english"
    assert 100_000 < sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80))
def test_offsets_are_true_for_any_text(english, text):
    spans = english.find(text, threshold=0.0)
    for span in spans:
        assert text[span.start : span.end] == span.text
        assert 0 <= span.score <= 1
    for left, right in pairwise(spans):
        assert left.end <= right.start


def test_emoji_and_line_breaks_do_not_move_offsets(english):
    text = "😀👩‍👩‍👧 Yesterday\r\nwe met Angela Merkel in Berlin."
    assert [(s.text, text.index(s.text)) for s in english.find(text)] == [
        (s.text, s.start) for s in english.find(text)
    ]
    assert "Angela Merkel" in found(english, text)


def test_many_texts_give_what_each_gives_alone(english):
    texts = ["Ada Lovelace lived in London.", "", "Nothing here.", "Oslo is in Norway."]
    together = list(english.find_all(texts))
    for text, spans in zip(texts, together, strict=True):
        alone = english.find(text)
        assert [(s.start, s.end) for s in spans] == [(s.start, s.end) for s in alone]
        assert [s.score for s in spans] == pytest.approx([s.score for s in alone], abs=1e-3)


def test_documents_read_together_are_each_read_by_itself(english):
    """The second repeats a rare word of the first, which must not count as a repetition."""
    documents = [[["Zorblatt", "left", "."]], [], [["the", "zorblatt", "left", "."], ["So", "."]]]
    together = english.read_all(documents)
    assert [len(readings) for readings in together] == [1, 0, 2]
    for document, readings in zip(documents, together, strict=True):
        for each, alone in zip(readings, english.read(document), strict=True):
            np.testing.assert_allclose(each.scores, alone.scores, atol=1e-3)


def test_find_all_is_lazy(english, monkeypatch):
    monkeypatch.setattr(reading, "_WORDS_TOGETHER", 100)

    def endless():
        while True:
            yield "Ada Lovelace lived in London. "

    assert [s.text for s in next(english.find_all(endless()))][:2] == ["Ada Lovelace", "London"]


def test_words_already_split_are_found_as_ranges_of_words(english):
    rows = english.find_words([["Marie", "Curie", "left", "."], ["Nobody", "did", "."]])
    assert [[(c.start, c.end) for c in row] for row in rows] == [[(0, 2)], []]


def test_a_threshold_only_filters(english):
    words = [["Marie", "Curie", "left", "Paris", "with", "a", "Harbour", "dog", "."]]
    every = english.find_words(words, threshold=0.0)[0]
    for least in (0.2, 0.5, 0.9):
        assert english.find_words(words, threshold=least)[0] == [
            c for c in every if c.score >= least
        ]


def test_without_the_casing_view_case_changes_nothing(english):
    text = [["Then", "Marie", "Curie", "left", "Paris", "."]]
    lowered = [[word.lower() for word in words] for words in text]
    assert torch.equal(english.gates(text).prob_open(), english.gates(lowered).prob_open())


def test_a_mask_can_be_sampled(english):
    gates = english.gates([["Marie", "Curie", "left", "Paris", "."]])
    masks = gates.sample((400,), generator=torch.Generator().manual_seed(0))
    assert set(masks.unique().tolist()) <= {0.0, 1.0}
    assert torch.allclose(masks.mean(0), gates.prob_open(), atol=0.08)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_out_of_range_is_refused(english, threshold):
    with pytest.raises(InputError, match=r"a threshold lies in \[0, 1\]"):
        english.find_words([["Paris"]], threshold=threshold)


def test_a_string_is_no_list_of_texts_or_words(english):
    with pytest.raises(InputError, match="use find"):
        next(english.find_all("Paris"))
    with pytest.raises(InputError, match="use find"):
        english.find_words(["Marie", "Curie"])
    with pytest.raises(InputError, match="use fit"):
        EntityFinder.fit("Anna lives in Paris.")


@pytest.mark.parametrize("text", [None, float("nan"), b"Oslo"])
def test_a_text_that_is_no_string_is_told(english, text):
    with pytest.raises(InputError, match=f"a text is a string; got {type(text).__name__}"):
        english.find(text)


def test_half_a_surrogate_pair_is_no_obstacle(english):
    text = "Half \ud800 a pair met Angela Merkel in Berlin."
    assert "Angela Merkel" in found(english, text)
