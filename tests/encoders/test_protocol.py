"""Batches of tokens, and the means of their vectors."""

import pytest
import torch

from thresher.encoders.protocol import (
    TokenBatch,
    sentence_vectors,
    weighted_sentence_vectors,
    word_vectors,
)

# Sentence 0 has words 0 and 1 in two windows that share a token of word 1; sentence 1 has word 2,
# which has no tokens, and word 3. −1 is a special token, or padding where the mask is 0.
BATCH = TokenBatch(
    ids=torch.zeros(3, 4, dtype=torch.long),
    mask=torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 0]]),
    word=torch.tensor([[-1, 0, 1, -1], [-1, 1, -1, -1], [-1, 3, -1, -1]]),
    sentence=torch.tensor([0, 0, 1]),
    sentence_of_word=torch.tensor([0, 0, 1, 1]),
    sentences=2,
)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def hidden_of(dtype):
    return torch.randn(3, 4, 5, dtype=dtype, generator=torch.Generator().manual_seed(0))


def test_a_part_does_not_use_the_cpu_copy_of_the_whole_batch():
    moved = BATCH.to(torch.device("cpu"))
    assert moved.lengths().tolist() == [4, 3, 3]
    hidden = hidden_of(torch.float32)
    torch.testing.assert_close(word_vectors(hidden, moved), word_vectors(hidden, BATCH))
    index = torch.tensor([2, 0])
    for part in (
        moved.select(index, tokens=3),
        moved.sentence_range(1, 2),
        moved.tokens_as_words(),
    ):
        assert part.lengths().tolist() == part.mask.sum(1).tolist()
        assert len(word_vectors(torch.ones(*part.ids.shape, 2), part)) == part.words
    alone = moved.select(index, tokens=3)
    torch.testing.assert_close(word_vectors(hidden[index, :3], alone)[3], hidden[2, 1])


@DTYPES
def test_a_word_is_the_mean_of_its_tokens_in_all_windows(dtype):
    hidden = hidden_of(dtype)
    vectors = word_vectors(hidden, BATCH)
    assert vectors.dtype == dtype
    torch.testing.assert_close(vectors[0], hidden[0, 1])
    torch.testing.assert_close(vectors[1], (hidden[0, 2] + hidden[1, 1]) / 2)
    torch.testing.assert_close(vectors[3], hidden[2, 1])


def test_a_word_without_tokens_is_zero():
    assert word_vectors(hidden_of(torch.float32), BATCH)[2].eq(0).all()


@DTYPES
def test_a_sentence_is_the_mean_of_its_tokens_with_special_ones_without_padding(dtype):
    hidden = hidden_of(dtype)
    vectors = sentence_vectors(hidden, BATCH)
    torch.testing.assert_close(vectors[0], torch.cat([hidden[0], hidden[1, :3]]).mean(0))
    torch.testing.assert_close(vectors[1], hidden[2, :3].mean(0))


@DTYPES
def test_weighted_means_are_over_the_tokens_of_words(dtype):
    hidden = hidden_of(dtype)
    weights = torch.tensor([0.5, 2.0, 7.0, 0.1], dtype=dtype)
    vectors = weighted_sentence_vectors(hidden, BATCH, weights)
    expected = (0.5 * hidden[0, 1] + 2 * hidden[0, 2] + 2 * hidden[1, 1]) / 4.5
    torch.testing.assert_close(vectors[0], expected)
    torch.testing.assert_close(vectors[1], hidden[2, 1])


def test_with_zero_weights_the_vector_is_zero():
    vectors = weighted_sentence_vectors(hidden_of(torch.float32), BATCH, torch.zeros(4))
    assert vectors.eq(0).all()


def test_gradients_agree_with_finite_differences():
    hidden = hidden_of(torch.float64).requires_grad_()
    weights = torch.rand(4, dtype=torch.float64).add(0.1).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: word_vectors(h, BATCH), hidden)
    assert torch.autograd.gradcheck(lambda h: sentence_vectors(h, BATCH), hidden)
    assert torch.autograd.gradcheck(
        lambda h, w: weighted_sentence_vectors(h, BATCH, w), (hidden, weights)
    )


@pytest.mark.parametrize(("low", "high", "windows"), [(0, 1, [0, 1]), (1, 2, [2]), (1, 1, [])])
def test_sentence_range_selects_windows_and_keeps_indices(low, high, windows):
    some = BATCH.sentence_range(low, high)
    assert some.word.tolist() == BATCH.word[windows].tolist()
    assert some.mask.tolist() == BATCH.mask[windows].tolist()
    assert some.sentence.tolist() == BATCH.sentence[windows].tolist()
    assert (some.sentences, some.words) == (BATCH.sentences, BATCH.words)


def test_all_tensors_of_a_batch_move_to_a_device():
    moved = BATCH.to(torch.device("meta"))
    tensors = (moved.ids, moved.mask, moved.word, moved.sentence, moved.sentence_of_word)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert (moved.sentences, moved.words) == (2, 4)
