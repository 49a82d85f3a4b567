"""The first layers of a transformer, against transformers itself."""

import pytest
import torch
from transformers import BertConfig, BertModel

from thresher.encoders.bert_layers import BertLayers, FirstLayers, first_layers

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}


def bert(**options):
    torch.manual_seed(0)
    config = BertConfig(**SIZES, num_hidden_layers=3, max_position_embeddings=16, **options)
    return BertModel(config).eval().requires_grad_(False)


@pytest.fixture
def batch():
    ids = torch.arange(3 * 7).view(3, 7)
    lengths = torch.tensor([7, 4, 1])
    return ids, (torch.arange(7) < lengths[:, None]).long()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bert_layers_are_those_of_transformers(batch, layers):
    model = bert()
    ids, mask = batch
    expected = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    read = first_layers(model, layers)
    assert isinstance(read, BertLayers)
    got, inside = read(ids, mask), mask.bool()
    torch.testing.assert_close(got[inside], expected.hidden_states[layers][inside])


def test_another_activation_is_left_to_transformers(batch):
    model = bert(hidden_act="relu")
    ids, mask = batch
    expected = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    read = first_layers(model, 2)
    assert isinstance(read, FirstLayers)
    inside = mask.bool()
    torch.testing.assert_close(read(ids, mask)[inside], expected.hidden_states[2][inside])


def test_reading_changes_neither_weights_nor_ids(batch):
    model = bert()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ids, mask = batch
    first_layers(model, 2)(ids, mask)
    assert torch.equal(ids, torch.arange(3 * 7).view(3, 7))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
