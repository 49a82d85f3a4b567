"""Models run by transformers: their first layers, against the full models."""

import pytest
import torch
from transformers import RobertaConfig, RobertaModel

from thresher.encoders.transformers_model import (
    TransformersModel,
    first_layers,
    with_eager_attention,
)

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = RobertaConfig(**SIZES, num_hidden_layers=3, max_position_embeddings=16)
    return RobertaModel(config).eval().requires_grad_(False)


@pytest.fixture
def batch():
    ids = torch.arange(3, 3 + 3 * 7).view(3, 7)
    mask = (torch.arange(7) < torch.tensor([7, 4, 1])[:, None]).long()
    return torch.where(mask.bool(), ids, 1), mask  # 1 is for padding


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_first_layers_equal_those_of_the_full_model(model, batch, layers):
    ids, mask = batch
    expected = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    read = TransformersModel(model)
    inside = mask.bool()
    got = read(read.word_embeddings[ids], mask, layers=layers)
    torch.testing.assert_close(got[inside], expected.hidden_states[layers][inside])
    assert len(model.encoder.layer) == read.depth == 3


def test_properties_agree_with_the_configuration(model):
    read = TransformersModel(model)
    assert read.word_embeddings.shape == (50, 24)
    assert read.width == 24
    assert read.max_positions == 14  # two of the positions are for padding


def test_attention_is_a_distribution_over_the_tokens_of_the_window(model, batch):
    ids, mask = batch
    read = TransformersModel(model)
    shares = read.attention(read.word_embeddings[ids], mask, layers=2)
    assert [each.shape for each in shares] == [(3, 3, 7, 7)] * 2
    for each in shares:
        torch.testing.assert_close(each.sum(-1), torch.ones(3, 3, 7))
        assert (each[1, :, :, 4:] == 0).all()


def test_the_eager_model_is_built_on_first_use(model, batch):
    ids, mask = batch
    read = TransformersModel(model)
    read(read.word_embeddings[ids], mask, layers=2)
    assert read._eager_models == {}
    read.attention(read.word_embeddings[ids], mask, layers=2)
    assert list(read._eager_models) == [2]


def test_reduced_models_share_all_weights_and_use_no_random_numbers(model):
    before = torch.get_rng_state()
    own = dict(model.named_parameters())
    for shallow in (first_layers(model, 1), with_eager_attention(model, 1)):
        assert len(shallow.encoder.layer) == 1
        for name, value in shallow.named_parameters():
            assert value.data_ptr() == own[name].data_ptr()
    assert torch.equal(before, torch.get_rng_state())
