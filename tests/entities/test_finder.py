"""EntityFinder as users call it: the built-in model, texts, offsets."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thresher.encoders.int8_linear import int8_supported
from thresher.entities import finder as finder_module
from thresher.entities.finder import EntityFinder
from thresher.entities.finding import text_finder
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
    assert 100_000 < sum(path.stat().st_size for path in folder.iterdir()) < 10_000_000


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80))
def test_offsets_are_correct_for_any_text(english, text):
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


def test_many_texts_give_the_same_entities_as_single_texts(english):
    texts = ["Ada Lovelace lived in London.", "", "Nothing here.", "Oslo is in Norway."]
    together = list(english.find_all(texts))
    for text, spans in zip(texts, together, strict=True):
        alone = english.find(text)
        assert [(s.start, s.end) for s in spans] == [(s.start, s.end) for s in alone]
        assert [s.score for s in spans] == pytest.approx([s.score for s in alone], abs=1e-3)


def test_texts_scored_together_get_the_same_scores_as_single_texts(english):
    """The last repeats a rare word of the first, which must not count as a repetition."""
    texts = ["Zorblatt left.", "", "The zorblatt left. So."]
    together = list(english.score_texts(texts))
    assert [each.text for each in together] == texts
    assert [len(each.scored_sentences) for each in together] == [1, 0, 2]
    for scored in together:
        split = [sentence.texts for sentence in scored.sentences]
        alone = english.score_sentences(split)
        for one, other in zip(scored.scored_sentences, alone, strict=True):
            assert one.words == other.words
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-3)


def test_the_spans_of_a_scored_text_are_those_that_find_returns(english):
    text = "Ada Lovelace lived in London. Oslo is in Norway."
    (scored,) = english.score_texts([text])
    for threshold in (0.0, 0.4):
        assert scored.spans(threshold) == english.find(text, threshold=threshold)


def test_a_long_text_is_scored_in_groups_of_sentences(english, monkeypatch):
    monkeypatch.setattr(text_finder, "SENTENCES_PER_GROUP", 2)
    sentences = [["Ada", "left", "."], ["So", "."], ["Oslo", "is", "far", "."]]
    scored = list(english.score_long_text(iter(sentences)))
    expected = english.score_sentences(sentences[:2]) + english.score_sentences(sentences[2:])
    assert [each.words for each in scored] == sentences
    for one, other in zip(scored, expected, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_find_all_is_lazy(english, monkeypatch):
    monkeypatch.setattr(text_finder, "_WORDS_PER_GROUP", 100)

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


def test_gates_do_not_depend_on_case(english):
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
    with pytest.raises(InputError, match=r"`threshold` must be between 0 and 1"):
        english.find_words([["Paris"]], threshold=threshold)


def test_a_string_instead_of_a_list_is_an_error(english):
    with pytest.raises(InputError, match="use find"):
        next(english.find_all("Paris"))
    with pytest.raises(InputError, match="use find"):
        english.find_words(["Marie", "Curie"])
    with pytest.raises(InputError, match="use fit"):
        EntityFinder.fit("Anna lives in Paris.")


@pytest.mark.parametrize("text", [None, float("nan"), b"Oslo"])
def test_a_text_that_is_not_a_string_is_an_error(english, text):
    with pytest.raises(InputError, match=f"a text must be a string, got {type(text).__name__}"):
        english.find(text)


def test_half_a_surrogate_pair_does_not_prevent_finding(english):
    text = "Half \ud800 a pair met Angela Merkel in Berlin."
    assert "Angela Merkel" in found(english, text)


@pytest.mark.parametrize("name", ["fast-english", "english"])
def test_scores_do_not_depend_on_the_other_sentences_of_a_batch(name, minilm):
    """Bit by bit: with float32 encoders this holds only up to rounding."""
    if name == "english" and not int8_supported():
        pytest.skip("the CPU does not support int8")
    finder = EntityFinder.load(name, device="cpu")
    words = "Marie Curie moved to Paris with the old professor and his U.S. letters .".split()
    sentences = [words[i % 7 : i % 7 + 1 + i % 11] for i in range(60)]
    together = finder.gate_scores(sentences)
    alone = np.concatenate([finder.gate_scores([each]) for each in sentences])
    assert np.array_equal(alone, together)
