import pytest
import torch

from thresher.encoders.activation_cache import encode_keeping
from thresher.encoders.protocol import TokenBatch

SENTENCES = [["Marie", "left", "Paris", "."], ["x"] * 30, ["No", "."], ["It", "rained", "again"]]
EVERYTHING = 1 << 40


@pytest.mark.parametrize("tokens_together", [1, 12, 10**9])
@pytest.mark.parametrize("most_kept", [0, 1, EVERYTHING])
def test_vectors_and_gradients_are_those_of_the_whole_batch(minilm, tokens_together, most_kept):
    batch = minilm.batch(SENTENCES)
    inside = batch.mask.bool()
    direction = torch.randn(minilm.width, generator=torch.Generator().manual_seed(0))
    gates = torch.linspace(0.1, 0.9, batch.words)
    found = []
    for encode in (
        minilm.encode_gated,
        lambda *given: encode_keeping(
            minilm, *given, tokens_together=tokens_together, most_kept=most_kept
        ),
    ):
        z = gates.clone().requires_grad_()
        hidden = encode(batch, z)
        (hidden[inside] @ direction).sum().backward()
        found.append((hidden.detach()[inside], z.grad))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("most_kept", "computed_again"), [(0, 3), (1, 2), (EVERYTHING, 0)])
def test_a_part_is_computed_again_only_if_its_activations_would_be_too_much(
    most_kept, computed_again
):
    class Counting:
        calls = 0

        def encode_gated(self, batch, gates):
            self.calls += 1
            return gates[batch.word].exp()[..., None]  # which keeps its own value to go back

    numbers = torch.arange(3)
    batch = TokenBatch(numbers[:, None], torch.ones(3, 1), numbers[:, None], numbers, numbers, 3)
    gates = torch.tensor([0.1, 0.5, 0.9], requires_grad=True)
    encoder = Counting()
    encode_keeping(encoder, batch, gates, tokens_together=1, most_kept=most_kept).sum().backward()
    assert encoder.calls == 3 + computed_again
    torch.testing.assert_close(gates.grad, gates.detach().exp())


def test_no_windows_have_no_vectors(minilm):
    batch = minilm.batch(SENTENCES)
    gates = torch.ones(batch.words, requires_grad=True)
    hidden = encode_keeping(minilm, batch.of_sentences(1, 1), gates)
    assert hidden.shape == (0, batch.ids.shape[1], minilm.width)
