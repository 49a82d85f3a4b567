"""Encoding in parts gives the same hidden states and gradients as the whole batch."""

import pytest
import torch

from thresher.encoders.activation_checkpointing import (
    encode_checkpointed,
    encode_partly_checkpointed,
)
from thresher.encoders.protocol import TokenBatch

SENTENCES = [["Marie", "left", "Paris", "."], ["x"] * 300, ["No", "."], ["It", "rained", "again"]]
SHORT = [["Marie", "left", "Paris", "."], ["x"] * 30, ["No", "."], ["It", "rained", "again"]]
UNLIMITED = 1 << 40


def test_checkpointed_equals_the_whole_batch_with_gradients(minilm):
    batch = minilm.batch(SENTENCES)
    direction = torch.randn(minilm.width, generator=torch.Generator().manual_seed(0))
    gates = torch.full((batch.words,), 0.6)

    def run(**options):
        z = gates.clone().requires_grad_()
        hidden = encode_checkpointed(minilm, batch, z, **options)
        (hidden @ direction)[batch.mask.bool()].sum().backward()
        return hidden.detach(), z.grad

    whole, whole_gradient = run(max_tokens=10**9)
    inside = batch.mask.bool()
    for tokens in (1, 600):
        parts, gradient = run(max_tokens=tokens)
        torch.testing.assert_close(parts[inside], whole[inside], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(gradient, whole_gradient, atol=1e-4, rtol=1e-3)


def test_checkpointed_without_gates_equals_plain_encoding(minilm):
    batch = minilm.batch(SENTENCES)
    with torch.no_grad():
        parts = encode_checkpointed(minilm, batch, max_tokens=1)
        whole = minilm.encode_gated(batch)
    inside = batch.mask.bool()
    torch.testing.assert_close(parts[inside], whole[inside], atol=1e-5, rtol=1e-4)


def test_an_empty_batch_has_no_vectors(minilm):
    batch = minilm.batch(SENTENCES)
    gates = torch.ones(batch.words, requires_grad=True)
    hidden = encode_checkpointed(minilm, batch.sentence_range(1, 1), gates)
    assert hidden.shape == (0, batch.ids.shape[1], minilm.width)


def test_parts_hold_windows_of_similar_length():
    class Counting:
        encoded = 0

        def encode_gated(self, batch, gates):
            self.encoded += batch.ids.numel()
            return batch.ids[..., None].float()

    lengths = torch.tensor([2, 30, 3, 2])
    mask = (torch.arange(30) < lengths[:, None]).long()
    ids = torch.arange(4 * 30).view(4, 30)
    batch = TokenBatch(ids, mask, ids, torch.arange(4), torch.arange(4), 4)
    encoder = Counting()
    hidden = encode_checkpointed(encoder, batch, max_tokens=30)
    assert encoder.encoded == 3 * 3 + 30
    assert torch.equal(hidden[mask.bool()][:, 0], ids[mask.bool()].float())


@pytest.mark.parametrize("max_tokens", [1, 12, 10**9])
@pytest.mark.parametrize("max_cached_bytes", [0, 1, UNLIMITED])
def test_partly_checkpointed_equals_the_whole_batch(minilm, max_tokens, max_cached_bytes):
    batch = minilm.batch(SHORT)
    inside = batch.mask.bool()
    direction = torch.randn(minilm.width, generator=torch.Generator().manual_seed(0))
    gates = torch.linspace(0.1, 0.9, batch.words)
    results = []
    for encode in (
        minilm.encode_gated,
        lambda *given: encode_partly_checkpointed(
            minilm, *given, max_tokens=max_tokens, max_cached_bytes=max_cached_bytes
        ),
    ):
        z = gates.clone().requires_grad_()
        hidden = encode(batch, z)
        (hidden[inside] @ direction).sum().backward()
        results.append((hidden.detach()[inside], z.grad))
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("max_cached_bytes", "computed_again"), [(0, 3), (1, 2), (UNLIMITED, 0)])
def test_a_part_is_computed_again_only_if_the_cache_is_full(max_cached_bytes, computed_again):
    class Counting:
        calls = 0

        def encode_gated(self, batch, gates):
            self.calls += 1
            return gates[batch.word].exp()[..., None]  # saves its own value for the backward pass

    numbers = torch.arange(3)
    batch = TokenBatch(numbers[:, None], torch.ones(3, 1), numbers[:, None], numbers, numbers, 3)
    gates = torch.tensor([0.1, 0.5, 0.9], requires_grad=True)
    encoder = Counting()
    encode_partly_checkpointed(
        encoder, batch, gates, max_tokens=1, max_cached_bytes=max_cached_bytes
    ).sum().backward()
    assert encoder.calls == 3 + computed_again
    torch.testing.assert_close(gates.grad, gates.detach().exp())


def test_an_empty_batch_has_no_vectors_partly_checkpointed(minilm):
    batch = minilm.batch(SHORT)
    gates = torch.ones(batch.words, requires_grad=True)
    hidden = encode_partly_checkpointed(minilm, batch.sentence_range(1, 1), gates)
    assert hidden.shape == (0, batch.ids.shape[1], minilm.width)
