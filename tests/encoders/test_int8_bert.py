"""BERT with int8 linear layers, against the same layers in float32."""

import pytest
import torch
from transformers import BertConfig, BertModel

from thresher.encoders.bert import Bert
from thresher.encoders.int8_bert import Int8Bert, bert_input_ranges
from thresher.encoders.int8_linear import MAX_WEIGHTS, int8_max_weight, int8_supported
from thresher.encoders.packing import encode_packed
from thresher.encoders.padding import padded_batch

LAYERS = 2
pytestmark = pytest.mark.skipif(not int8_supported(), reason="this CPU has no exact int8 products")


@pytest.fixture(params=["ordinary", "outlier channels"])
def exact(request):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=200, hidden_size=96, num_attention_heads=3, intermediate_size=160,
        num_hidden_layers=3, max_position_embeddings=256,
    )  # fmt: skip
    model = BertModel(config).eval().requires_grad_(False)
    for layer in model.encoder.layer:
        for part in (layer.intermediate.dense, layer.attention.self.query):
            part.weight.mul_(4)  # so that the layers change their input
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


def encode(bert, batch):
    return bert(bert.word_embeddings[batch.ids], batch.mask, layers=LAYERS)


def to_int8(bert, batch, max_weight=None):
    ranges = bert_input_ranges(bert, lambda: encode(bert, batch))
    return Int8Bert(bert, ranges, layers=LAYERS, max_weight=max_weight)


@pytest.mark.parametrize(
    "max_weight", [each for each in MAX_WEIGHTS if each <= (int8_max_weight() or 0)]
)
def test_hidden_states_are_within_two_percent_of_float32(exact, batch, max_weight):
    expected, inside = encode(exact, batch), batch.mask.bool()
    fast = to_int8(exact, batch, max_weight)
    got = encode_packed(fast, batch, width=96)
    error = (got - expected)[inside].norm() / expected[inside].norm()
    assert 0 < error < 0.02


def test_a_text_does_not_depend_on_the_others_in_its_row(exact, batch):
    fast = to_int8(exact, batch)
    alone = padded_batch([batch.ids[1, :31].tolist()], [list(range(31))], range(1), [31], pad=0)
    together = encode_packed(fast, batch, width=96)[1, :31]
    # A different order of summation may round to the next integer.
    torch.testing.assert_close(encode_packed(fast, alone, width=96)[0], together, atol=0.05, rtol=0)


def test_the_float32_model_is_not_changed(exact, batch):
    before = encode(exact, batch)
    fast = to_int8(exact, batch)
    encode_packed(fast, batch, width=96)
    assert torch.equal(encode(exact, batch), before)


def test_ranges_have_the_names_of_saved_models(exact, batch):
    ranges = bert_input_ranges(exact, lambda: encode(exact, batch))
    names = ("asked", "answered", "widened", "narrowed")
    assert set(ranges) == {f"layers.{layer}.{name}" for layer in range(LAYERS) for name in names}
