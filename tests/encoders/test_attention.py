"""Incoming and outgoing attention, against explicit sums."""

import pytest
import torch

from thresher.encoders.attention import AttentionEncoder, incoming_and_outgoing
from thresher.errors import InputError

CURIE = ["Marie", "Skłodowska-Curie", "left", "Paris", "."]


def test_incoming_and_outgoing_are_sums_over_the_tokens_of_other_words():
    weights = torch.rand(2, 3, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    word = torch.tensor([[-1, 0, 0, 1, 2], [-1, 3, -1, 4, -1]])
    shares = incoming_and_outgoing(weights, word)
    mean = weights.mean(1)
    for window in range(2):
        for t in range(5):
            others = [
                s
                for s in range(5)
                if word[window, s] >= 0 <= word[window, t] and word[window, s] != word[window, t]
            ]
            expected = [
                sum(float(mean[window, s, t]) for s in others),
                sum(float(mean[window, t, s]) for s in others),
            ]
            assert shares[window, t].tolist() == pytest.approx(expected, abs=1e-6)


def test_total_incoming_attention_equals_total_outgoing_attention(minilm):
    batch = minilm.batch([CURIE, ["It", "rained"]])
    incoming, outgoing = minilm.attention(batch).unbind(-1)
    torch.testing.assert_close(incoming.sum(1), outgoing.sum(1))
    assert (incoming[batch.word < 0] == 0).all()
    assert (outgoing[batch.word >= 0] > 0).all()
    assert (outgoing < 1).all()


def test_attention_equals_that_of_transformers(minilm, plain):
    batch = minilm.batch([CURIE])
    plain.model.set_attn_implementation("eager")
    output = plain.model(input_ids=batch.ids, attention_mask=batch.mask, output_attentions=True)
    layers = [incoming_and_outgoing(each, batch.word) for each in output.attentions]
    torch.testing.assert_close(minilm.attention(batch, layer=6), layers[5], atol=1e-5, rtol=1e-4)
    mean = torch.stack(layers[: minilm.layer]).mean(0)
    torch.testing.assert_close(minilm.attention(batch), mean, atol=1e-5, rtol=1e-4)


def test_attention_of_a_window_does_not_depend_on_its_batch(minilm):
    together = minilm.attention(minilm.batch([["It", "rained"], CURIE]))[0, :4]
    alone = minilm.attention(minilm.batch([["It", "rained"]]))[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("layer", [0, 7, -1])
def test_a_layer_out_of_range_is_rejected(minilm, layer):
    with pytest.raises(InputError, match=rf"has attention in layers 1 to 6; got {layer}"):
        minilm.attention(minilm.batch([CURIE]), layer=layer)


def test_sentence_bert_is_an_attention_encoder(minilm):
    assert isinstance(minilm, AttentionEncoder)
