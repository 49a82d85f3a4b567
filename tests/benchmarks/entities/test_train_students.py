"""Students learn the targets of each word: gates, links within sentences, and vectors."""

import numpy as np
import pytest
import torch
from benchmarks.entities.distill_layers import Finder, fast_attention
from benchmarks.entities.gate_targets import GateTargets
from benchmarks.entities.train_students import (
    lessons_of,
    losses,
    train,
    with_hidden_tokens,
)

from thresher.encoders.loading import load_encoder
from thresher.entities.finding.link_gate import LinkGate
from thresher.gates.selector import Selector

WORDS = ["the", "of", "in", "river", "london", "mary", "aspirin", "zyx"]
NAMES = {"london", "mary", "zyx"}
MASK = 103


@pytest.fixture(scope="module")
def encoder():
    return load_encoder(layer=1, device="cpu")


@pytest.fixture(scope="module")
def sentences():
    generator = np.random.default_rng(0)
    return [list(generator.choice(WORDS, size=generator.integers(1, 9))) for _ in range(120)]


def targets_of(sentences) -> GateTargets:
    words = [word for words in sentences for word in words]
    gates = np.array([0.95 if word in NAMES else 0.05 for word in words], dtype=np.float32)
    vectors = np.random.default_rng(1).normal(size=(len(words), 384))
    return GateTargets(gates, gates, vectors.astype(np.float16))


def test_lessons_have_every_word_once_with_its_position(encoder, sentences):
    lessons = lessons_of(encoder, sentences, words_per_batch=100)
    positions = np.concatenate([each.words for each in lessons])
    assert sorted(positions) == list(range(sum(map(len, sentences))))
    assert all(len(each.words) == len(each.batch.counts) for each in lessons)
    words = np.array([word for words in sentences for word in words])
    ids = {word: encoder.batch([[word]]).ids[0, 1].item() for word in WORDS}
    for each in lessons:
        first = [each.batch.ids[each.batch.inside][each.batch.word == i][0] for i in range(3)]
        assert [ids[word] for word in words[each.words[:3]]] == [int(i) for i in first]


def test_pairs_do_not_cross_sentences(encoder, sentences):
    ends = np.cumsum([len(words) for words in sentences]) - 1
    for each in lessons_of(encoder, sentences, words_per_batch=100):
        first = each.words[each.pairs.numpy()]
        assert not set(first) & set(ends)
        assert np.array_equal(each.words[each.pairs.numpy() + 1], first + 1)


def test_words_with_hidden_tokens_are_not_whole(encoder, sentences):
    torch.manual_seed(0)
    (lesson,) = lessons_of(encoder, sentences, words_per_batch=10_000)
    ids, whole = with_hidden_tokens(lesson.batch, MASK)
    hidden = (ids == MASK)[lesson.batch.inside]
    assert 0.02 < hidden.float().mean() < 0.1
    assert set(lesson.batch.word[hidden].tolist()) == set((~whole).nonzero()[:, 0].tolist())
    assert torch.equal(ids[~lesson.batch.inside], lesson.batch.ids[~lesson.batch.inside])


def test_layers_and_gates_learn_their_targets(encoder, sentences):
    torch.manual_seed(0)
    layers = encoder.model.layer_weights()
    kept = {name: each for name, each in layers.items() if not name.startswith("encoder.layer.")}
    kept |= {name: each for name, each in layers.items() if name.startswith("encoder.layer.0.")}
    bert = encoder.with_layers({name: each.clone() for name, each in kept.items()}).model
    student = Finder(bert, Selector(384, hidden=16), LinkGate(384, hidden=16), 1)
    before = bert.layers[0].qkv.weight.clone()
    targets, lessons = targets_of(sentences), lessons_of(encoder, sentences, words_per_batch=50)
    first = losses(student, lessons[-1], targets, MASK).detach()
    with fast_attention(torch.device("cpu")):
        train(student, lessons, targets, epochs=6, mask_id=MASK)
    last = losses(student, lessons[-1], targets, MASK).detach()
    assert not torch.equal(bert.layers[0].qkv.weight, before)
    assert (last[:2] < 0.6 * first[:2]).all()
    assert not any(each.requires_grad for each in bert.parameters())
