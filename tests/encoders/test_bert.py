"""This package's BERT, against `BertModel` of transformers."""

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from thresher.encoders.bert import Bert
from thresher.encoders.bert_weights import is_plain_bert

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def new_model(kind=BertModel, **options):
    torch.manual_seed(0)
    config = BertConfig(**SIZES, num_hidden_layers=3, max_position_embeddings=16, **options)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    for value in model.parameters():  # as they come, biases are zero and norms do nothing
        torch.nn.init.normal_(value, std=0.2)
    return model


def own(model):
    return Bert(model.config.to_dict(), model.state_dict())


@pytest.fixture(scope="module", params=["tiny", "packaged"])
def model(request):
    """A random BERT and the real one."""
    if request.param == "tiny":
        return new_model()
    plain = request.getfixturevalue("plain")
    return BertModel.from_pretrained(plain.model.name_or_path, attn_implementation="eager").eval()


@pytest.fixture
def batch(model):
    noise = torch.Generator().manual_seed(0)
    ids = torch.randint(0, model.config.vocab_size, (4, 16), generator=noise)
    lengths = torch.tensor([16, 9, 4, 1])
    return ids, (torch.arange(16) < lengths[:, None]).long()


@pytest.fixture
def expected(model, batch):
    ids, mask = batch
    with torch.no_grad():
        return model(
            input_ids=ids, attention_mask=mask, output_hidden_states=True, output_attentions=True
        )


def test_every_layer_equals_that_of_transformers(model, batch, expected):
    ids, mask = batch
    bert, inside = own(model), mask.bool()
    assert bert.depth == model.config.num_hidden_layers
    for layers, hidden in enumerate(expected.hidden_states):
        got = bert(bert.word_embeddings[ids], mask, layers=layers)
        torch.testing.assert_close(got[inside], hidden[inside], **CLOSE)


def test_attention_weights_equal_those_of_transformers(model, batch, expected):
    ids, mask = batch
    bert, inside = own(model), mask.bool()
    shares = bert.attention(bert.word_embeddings[ids], mask, layers=bert.depth)
    assert len(shares) == len(expected.attentions)
    for got, attention in zip(shares, expected.attentions, strict=True):
        for window in range(len(ids)):
            of_tokens = inside[window]
            torch.testing.assert_close(
                got[window][:, of_tokens], attention[window][:, of_tokens], **CLOSE
            )


def test_gradients_equal_those_of_transformers(model, batch):
    ids, mask = batch
    bert, inside = own(model), mask.bool()
    direction = torch.randn(*ids.shape, bert.width, generator=torch.Generator().manual_seed(1))
    embedded = model.get_input_embeddings().weight.detach()[ids].requires_grad_()

    def gradient(hidden):
        return torch.autograd.grad((hidden * direction)[inside].sum(), embedded)[0]

    got = gradient(bert(embedded, mask, layers=bert.depth))
    theirs = gradient(model(inputs_embeds=embedded, attention_mask=mask).last_hidden_state)
    assert got[inside].abs().min(0).values.max() > 0
    scale = float(theirs.abs().max())
    torch.testing.assert_close(got / scale, theirs / scale, **CLOSE)


def test_encoding_changes_neither_weights_nor_embeddings():
    bert = own(new_model())
    before = {name: value.clone() for name, value in bert.state_dict().items()}
    embedded = bert.word_embeddings[torch.arange(12).view(2, 6)]
    given = embedded.clone()
    bert(embedded, torch.ones(2, 6), layers=3)
    bert.attention(embedded, torch.ones(2, 6), layers=3)
    assert torch.equal(embedded, given)
    assert all(torch.equal(value, before[name]) for name, value in bert.state_dict().items())


def test_weights_of_a_model_with_a_head_and_with_old_names_are_loaded():
    model = new_model(BertForMaskedLM)
    former = {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): value
        for name, value in model.state_dict().items()
    }
    assert not former.keys() & own(new_model()).state_dict().keys()
    expected = own(model.bert).state_dict()
    got = Bert(model.config.to_dict(), former).state_dict()
    assert got.keys() == expected.keys()
    assert all(torch.equal(value, got[name]) for name, value in expected.items())


def test_float16_weights_are_loaded_as_float32_except_the_table_of_words():
    bert = own(new_model().half())
    table = bert.word_embeddings
    assert table.dtype == torch.float16
    others = [value for value in bert.parameters() if value is not table]
    assert {value.dtype for value in others} == {torch.float32}


def test_a_float16_table_of_words_gives_float32_hidden_states():
    model = new_model().half().float()  # weights that are exact in both precisions
    exact, half = own(model), own(model.half())
    ids, mask = torch.arange(6).view(2, 3), torch.ones(2, 3)
    states = [bert(bert.word_embeddings[ids], mask, layers=1) for bert in (exact, half)]
    assert states[1].dtype == torch.float32
    assert torch.equal(*states)


def test_building_uses_no_random_numbers_and_all_weights_are_frozen():
    model = new_model()
    before = torch.get_rng_state()
    bert = own(model)
    assert torch.equal(torch.get_rng_state(), before)
    assert not any(value.requires_grad for value in bert.parameters())


@pytest.mark.parametrize(
    "options",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
        {"quantization_config": {"load_in_8bit": True}},
    ],
)
def test_other_configurations_are_not_plain_bert(options):
    config = BertConfig(**SIZES).to_dict()
    assert is_plain_bert(config)
    assert not is_plain_bert(config | options)


def test_layers_can_be_saved_and_replaced(model, batch):
    ids, mask = batch
    bert, inside = own(model), mask.bool()
    again = bert.with_layers(bert.layer_weights())
    embedded = bert.word_embeddings[ids]
    expected = bert(embedded, mask, layers=bert.depth)[inside]
    torch.testing.assert_close(again(embedded, mask, layers=bert.depth)[inside], expected)
    assert again.word_embeddings.data_ptr() == bert.word_embeddings.data_ptr()


def test_layers_are_moved_to_the_device_of_the_model(model, monkeypatch):
    monkeypatch.setattr("thresher.encoders.bert.require_finite", lambda *_: None)  # no values there
    bert = own(model)
    saved = {name: value.cpu() for name, value in bert.layer_weights().items()}
    elsewhere = bert.to("meta").with_layers(saved)
    assert {value.device.type for value in elsewhere.state_dict().values()} == {"meta"}


def test_a_model_with_fewer_layers_equals_the_first_layers(model, batch):
    ids, mask = batch
    bert, inside = own(model), mask.bool()
    first = {
        name: value
        for name, value in bert.layer_weights().items()
        if name.startswith(("embeddings.", "encoder.layer.0."))
    }
    small = bert.with_layers(first)
    assert small.depth == 1
    embedded = bert.word_embeddings[ids]
    expected = bert(embedded, mask, layers=1)[inside]
    torch.testing.assert_close(small(embedded, mask, layers=1)[inside], expected)
