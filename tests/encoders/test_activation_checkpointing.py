import torch

from thresher.encoders.activation_checkpointing import encode_in_parts
from thresher.encoders.protocol import TokenBatch

SENTENCES = [["Marie", "left", "Paris", "."], ["x"] * 300, ["No", "."], ["It", "rained", "again"]]


def test_parts_equal_the_whole_with_its_gradients(minilm):
    batch = minilm.batch(SENTENCES)
    direction = torch.randn(minilm.width, generator=torch.Generator().manual_seed(0))
    gates = torch.full((batch.words,), 0.6)

    def run(**options):
        z = gates.clone().requires_grad_()
        hidden = encode_in_parts(minilm, batch, z, **options)
        (hidden @ direction)[batch.mask.bool()].sum().backward()
        return hidden.detach(), z.grad

    whole, whole_gradient = run(tokens_together=10**9)
    inside = batch.mask.bool()
    for tokens in (1, 600):
        parts, gradient = run(tokens_together=tokens)
        torch.testing.assert_close(parts[inside], whole[inside], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(gradient, whole_gradient, atol=1e-4, rtol=1e-3)


def test_without_gates_parts_equal_the_plain_encoding(minilm):
    batch = minilm.batch(SENTENCES)
    with torch.no_grad():
        parts = encode_in_parts(minilm, batch, tokens_together=1)
        whole = minilm.encode_gated(batch)
    inside = batch.mask.bool()
    torch.testing.assert_close(parts[inside], whole[inside], atol=1e-5, rtol=1e-4)


def test_no_windows_have_no_vectors(minilm):
    batch = minilm.batch(SENTENCES)
    gates = torch.ones(batch.words, requires_grad=True)
    hidden = encode_in_parts(minilm, batch.of_sentences(1, 1), gates)
    assert hidden.shape == (0, batch.ids.shape[1], minilm.width)


def test_windows_of_like_length_make_a_part_and_little_padding_is_encoded():
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
    hidden = encode_in_parts(encoder, batch, tokens_together=30)
    assert encoder.encoded == 3 * 3 + 30
    assert torch.equal(hidden[mask.bool()][:, 0], ids[mask.bool()].float())
