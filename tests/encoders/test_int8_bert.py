"""BERT in eight bits, against the same layers in single precision."""

import pytest
import torch
from transformers import BertConfig, BertModel

from thresher.encoders.bert import Bert
from thresher.encoders.int8_bert import EightBitBert
from thresher.encoders.int8_linear import input_ranges
from thresher.encoders.int8_support import int8_supported
from thresher.encoders.packing import encoded_in_rows
from thresher.encoders.padding import padded_batch

LAYERS = 2
pytestmark = pytest.mark.skipif(not int8_supported(), reason="this processor cannot")


@pytest.fixture(params=["ordinary", "some channels too large"])
def exact(request):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=200, hidden_size=96, num_attention_heads=3, intermediate_size=160,
        num_hidden_layers=3, max_position_embeddings=256,
    )  # fmt: skip
    model = BertModel(config).eval().requires_grad_(False)
    for layer in model.encoder.layer:
        for part in (layer.intermediate.dense, layer.attention.self.query):
            part.weight.mul_(4)  # for layers that change what passes through them
        if request.param != "ordinary":
            layer.intermediate.dense.weight[5] *= 8
            layer.attention.output.LayerNorm.weight[7] = 20.0
            layer.output.LayerNorm.weight[7] = 20.0
    return Bert(config.to_dict(), model.state_dict())


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    lengths = [7, 31, 64, 2, 90, 12, 1]
    ids = [torch.randint(0, 200, (n,), generator=generator).tolist() for n in lengths]
    return padded_batch(ids, ids, range(len(lengths)), lengths, pad=0)


def read(bert, batch):
    return bert(bert.words[batch.ids], batch.mask, layers=LAYERS)


def to_int8(bert, batch):
    return EightBitBert(bert, input_ranges(bert, lambda: read(bert, batch)), layers=LAYERS)


def test_vectors_are_those_of_single_precision_to_about_two_digits(exact, batch):
    expected, inside = read(exact, batch), batch.mask.bool()
    fast = to_int8(exact, batch)
    got = encoded_in_rows(fast, batch, width=96)
    error = (got - expected)[inside].norm() / expected[inside].norm()
    assert 0 < error < 0.02


def test_a_text_does_not_depend_on_those_beside_it(exact, batch):
    fast = to_int8(exact, batch)
    alone = padded_batch([batch.ids[1, :31].tolist()], [list(range(31))], range(1), [31], pad=0)
    together = encoded_in_rows(fast, batch, width=96)[1, :31]
    # Sums in another order may round to another integer, and no more.
    torch.testing.assert_close(
        encoded_in_rows(fast, alone, width=96)[0], together, atol=0.05, rtol=0
    )


def test_single_precision_stays_as_it_was(exact, batch):
    before = read(exact, batch)
    fast = to_int8(exact, batch)
    encoded_in_rows(fast, batch, width=96)
    assert torch.equal(read(exact, batch), before)
