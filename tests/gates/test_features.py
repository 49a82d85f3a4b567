"""The input of a selector: words or subwords, with or without attention."""

import json

import numpy as np
import pytest
import torch

from thresher.encoders.protocol import word_vectors
from thresher.entities.finder import EntityFinder
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.batching import sentence_starts
from thresher.gates.features import Features
from thresher.gates.variants import DualModels
from thresher.gates.word_vectors import UnitIndex, cache_vectors, encode_words

TEXT = [["Marie", "Skłodowska-Curie", "left", "."], [], ["\x00", "Thanks"]]
NAMES = ["Anna", "Boris", "Chiara", "Dmitri", "Elena", "Farid"]


def sentences(count=60):
    chance = np.random.default_rng(0)
    starts = [["Then", "the", "child"], ["The", "child", "then"]]
    return [[*starts[i % 2], "met", chance.choice(NAMES), "again", "."] for i in range(count)]


class SplittingEncoder:
    """A tiny encoder with two tokens for every word, and made-up attention."""

    def __new__(cls, new_tiny):
        class Splitting(new_tiny):
            def batch(self, sentences):
                doubled = [
                    [half for word in words for half in (word, word[::-1])] for words in sentences
                ]
                batch = super().batch(doubled)
                word = torch.where(batch.word >= 0, batch.word // 2, -1)
                owner = batch.sentence_of_word[::2]
                return type(batch)(
                    ids=batch.ids,
                    mask=batch.mask,
                    word=word,
                    sentence=batch.sentence,
                    sentence_of_word=owner,
                    sentences=batch.sentences,
                )

            def attention(self, batch, *, layer=None):
                seen = (batch.ids % 5) / 5
                return torch.stack([seen, seen + (layer or 0)], dim=-1)

        return Splitting()


@pytest.fixture
def splitting(new_tiny):
    return SplittingEncoder(new_tiny)


def test_subwords_are_the_tokens_of_words_in_their_order(minilm):
    features = Features(unit="subword")
    batch = minilm.batch(TEXT)
    units = UnitIndex.of_features(features, minilm, TEXT)
    inside = batch.word >= 0
    assert units.word.tolist() == batch.word[inside].tolist()
    assert units.starts.tolist() == [0, *np.cumsum([int((inside[i]).sum()) for i in range(3)])]
    torch.testing.assert_close(features.encode(minilm, TEXT), minilm.encode(batch)[inside])


def test_words_are_units_of_their_own_and_need_no_tokens():
    units = UnitIndex.of_features(Features(), None, TEXT)
    assert units.word.tolist() == list(range(6))
    assert units.starts.tolist() == [0, 4, 4, 6]


def test_a_word_gets_the_largest_score_of_its_subwords_and_0_without_any():
    units = UnitIndex(np.array([0, 0, 1, 3]), np.array([0, 4]), 4)
    scores = units.max_per_word(np.array([0.2, 0.7, 0.4, 0.1], dtype=np.float32))
    assert scores.tolist() == pytest.approx([0.7, 0.4, 0.0, 0.1])


def test_attention_is_appended_to_the_vector_of_a_word(minilm):
    vectors = Features(attention="mean").encode(minilm, TEXT)
    batch = minilm.batch(TEXT)
    torch.testing.assert_close(vectors[:, :-2], encode_words(minilm, TEXT))
    torch.testing.assert_close(vectors[:, -2:], word_vectors(minilm.attention(batch), batch))
    chosen = Features(attention=2).encode(minilm, TEXT)[:, -2:]
    torch.testing.assert_close(chosen, word_vectors(minilm.attention(batch, layer=2), batch))
    assert Features(attention=2).width(minilm) == minilm.width + 2


def test_vectors_of_subwords_are_cached_in_the_order_of_sentences(splitting, tmp_path):
    features = Features(unit="subword", attention=3)
    text = sentences(9)
    cached = cache_vectors(splitting, text, tmp_path / "v.npy", features=features)
    direct = torch.cat([features.encode(splitting, [words]) for words in text]).half()
    np.testing.assert_allclose(cached[:, :-2], direct[:, :-2].numpy(), atol=1e-3)


def test_an_encoder_without_attention_is_refused_by_name(tiny):
    with pytest.raises(InputError, match="the encoder tiny gives no attention weights"):
        Features(attention="mean").encode(tiny, TEXT)


# As a finder


@pytest.mark.parametrize(
    "variants",
    [
        {"unit": "subword"},
        {"attention": "mean"},
        {"unit": "subword", "attention": 1},
        {"dual": DualModels(relation="align")},
        {"dual": DualModels(selectors=3, relation="repel", target_rates=(None, 0.2, 0.2))},
    ],
)
def test_a_finder_with_variants_learns_saves_and_loads(variants, splitting, tmp_path, monkeypatch):
    settings = EntitySettings(
        epochs=20, sentences_per_batch=16, learning_rate=0.01, contrast_share=0.1, **variants
    )
    finder = EntityFinder.fit_words(sentences(), encoder=splitting, settings=settings)
    words = [["then", "the", "child", "met", "chiara", "again", "."]]
    assert [(c.start, c.end) for c in finder.find_words(words)[0]] == [(4, 5)]
    finder.save(tmp_path / "m")
    monkeypatch.setattr("thresher.entities.loading.load_encoder", lambda *_, **__: splitting)
    loaded = EntityFinder.load(tmp_path / "m")
    for number in range(1, settings.selectors + 1):
        before, after = (
            each.with_selector(number).score_sentences(words)[0] for each in (finder, loaded)
        )
        np.testing.assert_array_equal(before.scores, after.scores)
        assert before.candidates == after.candidates
        assert loaded.with_selector(number).threshold == finder.with_selector(number).threshold
    assert loaded.model.entity == finder.model.entity


def test_another_selector_finds_other_words(splitting):
    dual = DualModels(relation="repel", weight=0.3, cap=2.0, target_rates=(None, 0.3))
    settings = EntitySettings(epochs=40, sentences_per_batch=16, learning_rate=0.01, dual=dual)
    finder = EntityFinder.fit_words(sentences(), encoder=splitting, settings=settings)
    assert finder.model.entity == 0
    text = sentences(6)
    first, second = (finder.with_selector(k).gate_scores(text) for k in (1, 2))
    names = sentence_starts(text)[:-1] + 4
    assert first[names].mean() - second[names].mean() > 0.3
    assert (second - first).max() > 0.3


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_missing_selector_is_refused(number, splitting):
    settings = EntitySettings(epochs=1, dual=DualModels())
    finder = EntityFinder.fit_words(sentences(), encoder=splitting, settings=settings)
    with pytest.raises(InputError, match=f"selector must be between 1 and 2, got {number}"):
        finder.with_selector(number)


def test_a_folder_from_before_there_were_variants_still_loads(splitting, tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.entities.loading.load_encoder", lambda *_, **__: splitting)
    finder = EntityFinder.fit_words(
        sentences(), encoder=splitting, settings=EntitySettings(epochs=2)
    )
    finder.save(tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for name in ("features", "entity", "others"):
        del config[name]
    path.write_text(json.dumps(config), encoding="utf-8")
    for before, after in zip(
        finder.score_sentences(sentences(5)),
        EntityFinder.load(tmp_path / "m").score_sentences(sentences(5)),
        strict=True,
    ):
        np.testing.assert_array_equal(before.scores, after.scores)
