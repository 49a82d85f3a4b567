import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from transformers import AutoModel, RobertaConfig, RobertaModel

from thresher.encoders.int8_linear import int8_supported
from thresher.encoders.protocol import WordEncoder, sentence_vectors, word_vectors
from thresher.encoders.sentence_bert import MAX_TOKENS, SentenceBert

CURIE = ["Marie", "Skłodowska-Curie", "moved", "to", "Paris", "."]
SHORT = ["Thanks", "!"]
# Words of one token each, no two neighbours alike.
LONG = [["the", "river", "runs", "past", "old", "stone", "houses"][i % 7] for i in range(600)]
OVERLAP = MAX_TOKENS // 4
CLOSE = {"atol": 2e-5, "rtol": 1e-4}


def tokens_of(batch, sentence=0):
    """The ids of a sentence that has one window, without padding."""
    return batch.ids[sentence][batch.mask[sentence].bool()]


# Tokens


def test_tokens_equal_those_of_the_original_tokenizer(minilm, plain):
    batch = minilm.batch([CURIE, SHORT])
    assert tokens_of(batch, 0).tolist() == plain.ids(CURIE)[0].tolist()
    assert tokens_of(batch, 1).tolist() == plain.ids(SHORT)[0].tolist()


def test_every_token_has_the_index_of_its_word(minilm, plain):
    batch = minilm.batch([SHORT, CURIE])
    tokens = {
        w: plain.tokenizer.decode(batch.ids[batch.word == w]).replace(" ", "")
        for w in range(batch.words)
    }
    words = [*SHORT, *CURIE]
    assert tokens == {w: words[w].casefold() for w in range(len(words))}
    assert batch.sentence_of_word.tolist() == [0] * len(SHORT) + [1] * len(CURIE)
    special = batch.ids[(batch.word == -1) & batch.mask.bool()]
    assert set(special.tolist()) == {plain.tokenizer.cls_token_id, plain.tokenizer.sep_token_id}


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5))
def test_a_text_and_its_lower_cased_form_give_identical_tokens(minilm, words):
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    given_words, lowered = minilm.batch([words]), minilm.batch([[w.lower() for w in words]])
    assert torch.equal(given_words.ids, lowered.ids)
    assert torch.equal(given_words.word, lowered.word)


def test_a_cased_tokenizer_gets_case_folded_words(tiny_folder):
    encoder = SentenceBert(tiny_folder)
    ids = encoder.batch([["Marie", "CURIE", "left"]]).ids[0]
    assert [encoder.tokenizer.id_to_token(each) for each in ids[1:-1]] == ["marie", "curie", "left"]


# Vectors


@pytest.mark.parametrize("layer", [1, None, 6])
def test_encode_is_the_hidden_state_of_that_layer_of_the_full_model(packaged_folder, plain, layer):
    encoder = SentenceBert(packaged_folder, layer=layer)
    hidden = encoder.encode(encoder.batch([CURIE]))[0]
    expected = plain.hidden_states(plain.ids(CURIE))[encoder.layer]
    torch.testing.assert_close(hidden, expected, **CLOSE)


def test_the_default_layer_is_neither_the_first_nor_the_last(minilm, plain):
    assert 1 < minilm.layer < plain.model.config.num_hidden_layers


def test_encode_after_encode_gated_still_stops_at_its_layer(minilm, plain):
    batch = minilm.batch([CURIE])
    before = minilm.encode(batch)
    last = minilm.encode_gated(batch)
    assert torch.equal(minilm.encode(batch), before)
    torch.testing.assert_close(last[0], plain.hidden_states(plain.ids(CURIE))[-1], **CLOSE)


def test_with_open_gates_the_hidden_states_equal_the_plain_model(minilm, plain):
    batch = minilm.batch([CURIE])
    expected = plain.hidden_states(plain.ids(CURIE))[-1]
    torch.testing.assert_close(minilm.encode_gated(batch, torch.ones(6))[0], expected, **CLOSE)
    torch.testing.assert_close(minilm.encode_gated(batch)[0], expected, **CLOSE)


def test_the_sentence_vector_is_mean_pooling_over_the_attention_mask(minilm, plain):
    folded = [" ".join(words).casefold() for words in (CURIE, SHORT)]
    inputs = plain.tokenizer(folded, padding=True, truncation=False, return_tensors="pt")
    with torch.inference_mode():
        hidden = plain.model(**inputs).last_hidden_state
    mask = inputs.attention_mask[..., None].float()
    pooled = (hidden * mask).sum(1) / mask.sum(1)
    batch = minilm.batch([CURIE, SHORT])
    ours = sentence_vectors(minilm.encode_gated(batch), batch)
    torch.testing.assert_close(ours, pooled, **CLOSE)


@pytest.mark.parametrize("word", range(len(CURIE)))
def test_closing_a_gate_equals_replacing_all_tokens_of_the_word_by_mask(minilm, plain, word):
    batch = minilm.batch([CURIE])
    gates = torch.ones(len(CURIE))
    gates[word] = 0
    masked = torch.where(batch.word == word, plain.tokenizer.mask_token_id, batch.ids)
    assert not torch.equal(masked, batch.ids)
    expected = plain.hidden_states(masked)[-1]
    torch.testing.assert_close(minilm.encode_gated(batch, gates)[0], expected, **CLOSE)


def test_a_closed_word_does_not_influence_its_neighbours(minilm):
    gates = torch.tensor([1.0, 1.0, 0.0, 1.0])
    ours, other = (
        minilm.encode_gated(minilm.batch([["he", "left", place, "."]]), gates)
        for place in ("paris", "warsaw")
    )
    assert torch.equal(ours, other)


def test_gates_affect_only_their_own_sentence(minilm):
    batch = minilm.batch([SHORT, CURIE])
    gates = torch.tensor([0.0, 0.3, *[1.0] * len(CURIE)])
    opened = minilm.encode_gated(batch)
    gated = minilm.encode_gated(batch, gates)
    torch.testing.assert_close(gated[1], opened[1], **CLOSE)
    assert (gated[0] - opened[0]).abs().max() > 0.01


def test_gradients_of_gates_agree_with_finite_differences(minilm):
    batch = minilm.batch([CURIE, SHORT])
    noise = torch.Generator().manual_seed(0)
    gates = torch.rand(batch.words, generator=noise) * 0.8 + 0.1
    direction = torch.randn(batch.sentences, minilm.width, generator=noise)

    def value(gates):
        return (sentence_vectors(minilm.encode_gated(batch, gates), batch) * direction).sum()

    variable = gates.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(variable), variable)
    step = 2e-3  # large enough for float32
    differences = torch.stack(
        [
            (value(gates + step * each) - value(gates - step * each)) / (2 * step)
            for each in torch.eye(batch.words)
        ]
    )
    assert gradient.abs().min() > 0.1
    torch.testing.assert_close(gradient, differences, atol=0.02, rtol=0.01)


def test_padding_does_not_change_hidden_states(minilm):
    together = minilm.batch([SHORT, CURIE])
    alone = minilm.batch([SHORT])
    torch.testing.assert_close(
        word_vectors(minilm.encode(together), together)[: len(SHORT)],
        word_vectors(minilm.encode(alone), alone),
        **CLOSE,
    )


def test_the_encoder_is_frozen(minilm):
    batch = minilm.batch([SHORT])
    assert not minilm.encode(batch).requires_grad
    assert not minilm.encode_gated(batch).requires_grad
    assert minilm.encode_gated(batch, torch.ones(2, requires_grad=True)).requires_grad


# Long sentences


def test_a_long_sentence_is_not_truncated(minilm):
    batch = minilm.batch([LONG, SHORT])
    vectors = word_vectors(minilm.encode(batch), batch)
    assert vectors.shape == (602, minilm.width)
    assert vectors.norm(dim=-1).min() > 1
    assert batch.ids.shape[1] <= MAX_TOKENS
    assert batch.sentence.tolist() == [0] * (len(batch.ids) - 1) + [1]
    assert set(batch.word[:-1].unique().tolist()) == {-1, *range(600)}


def test_a_word_in_one_window_has_the_vector_of_that_window_alone(minilm):
    room = MAX_TOKENS - 2  # beside the two special tokens
    batch = minilm.batch([LONG])
    alone = minilm.batch([LONG[:room]])
    whole = word_vectors(minilm.encode(batch), batch)
    part = word_vectors(minilm.encode(alone), alone)
    torch.testing.assert_close(whole[: room - OVERLAP], part[: room - OVERLAP], **CLOSE)


def test_a_word_in_two_windows_has_the_mean_of_both(minilm):
    room = MAX_TOKENS - 2
    start = room - OVERLAP
    batch = minilm.batch([LONG])
    whole = word_vectors(minilm.encode(batch), batch)
    windows = minilm.batch([LONG[:room], LONG[start : start + room]])
    parts = word_vectors(minilm.encode(windows), windows)
    mean = (parts[start:room] + parts[room : room + OVERLAP]) / 2
    torch.testing.assert_close(whole[start:room], mean, **CLOSE)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_model_with_few_positions_uses_shorter_windows(new_bert, tmp_path, kind):
    folder = new_bert(["marie", "left"], width=8, layers=2, max_position_embeddings=24)
    if kind == "roberta":  # two of the positions are for padding
        folder = shutil.copytree(folder, tmp_path / "roberta")
        sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
        config = RobertaConfig(vocab_size=6, max_position_embeddings=26, **sizes)
        RobertaModel(config).save_pretrained(folder)
    encoder = SentenceBert(folder)
    batch = encoder.batch([["Marie", "left"] * 30])
    assert batch.ids.shape[1] == 24
    for hidden in (encoder.encode(batch), encoder.encode_gated(batch)):
        assert word_vectors(hidden, batch).isfinite().all()
    assert word_vectors(hidden, batch).any(1).all()  # every word is in some window


def test_a_gate_closes_its_word_in_every_window(minilm):
    batch = minilm.batch([LONG])
    in_two = int(MAX_TOKENS - 2 - OVERLAP / 2)
    gates = torch.ones(600)
    gates[in_two] = 0
    changed = (minilm.encode_gated(batch, gates) - minilm.encode_gated(batch)).abs().amax(-1)
    rows = (batch.word == in_two).any(1)
    assert rows.sum() == 2
    assert (changed[rows].amax(1) > 0.01).all()
    assert changed[~rows].amax() < 1e-4


# Awkward input


@pytest.mark.parametrize("word", ["\u200b", "\x00", " ", "\ufeff"])
def test_a_word_without_tokens_gets_a_zero_vector(minilm, word):
    batch = minilm.batch([["marie", word, "left"]])
    plain = minilm.batch([["marie", "left"]])
    vectors = word_vectors(minilm.encode(batch), batch)
    assert vectors[1].eq(0).all()
    expected = word_vectors(minilm.encode(plain), plain)
    torch.testing.assert_close(vectors[[0, 2]], expected, **CLOSE)


def test_a_sentence_without_words_is_allowed(minilm):
    batch = minilm.batch([[], SHORT, []])
    assert (batch.words, batch.sentences) == (2, 3)
    assert batch.sentence_of_word.tolist() == [1, 1]
    assert word_vectors(minilm.encode(batch), batch).shape == (2, minilm.width)
    assert sentence_vectors(minilm.encode_gated(batch), batch).isfinite().all()


@hypothesis_settings(max_examples=10)
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_words_give_finite_vectors(minilm, words):
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    batch = minilm.batch([words])
    vectors = word_vectors(minilm.encode(batch), batch)
    assert vectors.shape == (len(words), minilm.width)
    assert vectors.isfinite().all()


def test_without_a_mask_token_a_closed_gate_gives_the_mean_input_embedding(tiny_folder):
    encoder = SentenceBert(tiny_folder)
    batch = encoder.batch([["Marie", "left"]])
    plain = AutoModel.from_pretrained(tiny_folder).eval()
    embeddings = plain.get_input_embeddings().weight.detach()
    closed = embeddings[batch.ids].clone()
    closed[0, 1] = embeddings.mean(0)
    expected = plain(inputs_embeds=closed, attention_mask=batch.mask).last_hidden_state.detach()
    torch.testing.assert_close(encoder.encode_gated(batch, torch.tensor([0.0, 1.0])), expected)


def test_ranges_are_measured_in_float32_even_on_an_int8_encoder(minilm):
    text = [["Marie", "left", "."], ["Paris"]]
    ranges = minilm.input_ranges(text)
    assert len(ranges) == 4 * minilm.layer
    again = minilm.to_int8(ranges).input_ranges(text)
    assert all(torch.equal(again[name], value) for name, value in ranges.items())


def test_an_encoder_that_is_not_bert_has_no_int8_version(new_bert):
    folder = new_bert(["paris"], width=8, layers=2, hidden_act="relu")
    encoder = SentenceBert(folder)
    ranges = encoder.input_ranges([["Paris"]])
    assert ranges == {}
    batch = encoder.batch([["Paris"]])
    assert torch.equal(encoder.to_int8(ranges).encode(batch), encoder.encode(batch))


@pytest.mark.parametrize("text", [[SHORT, [], CURIE], [SHORT, LONG]])
@pytest.mark.parametrize("int8", [False, True])
def test_encode_by_word_equals_the_means_of_tokens(minilm, text, int8):
    if int8 and not int8_supported():
        pytest.skip("this CPU has no exact int8 products")
    encoder = minilm.to_int8(minilm.input_ranges(text)) if int8 else minilm
    batch = encoder.batch(text)
    expected = word_vectors(encoder.encode(batch), batch)
    assert isinstance(encoder, WordEncoder)
    torch.testing.assert_close(encoder.encode_by_word(batch), expected)


@pytest.mark.skipif(not int8_supported(), reason="this CPU has no exact int8 products")
def test_texts_of_several_windows_are_encoded_in_int8(minilm):
    text = [["a", "very", "long", "walk"] * 100, ["Paris"], []]
    fast = minilm.to_int8(minilm.input_ranges(text))
    batch = minilm.batch(text)
    inside = batch.mask.bool()
    exact, got = minilm.encode(batch)[inside], fast.encode(batch)[inside]
    assert 0 < (got - exact).norm() / exact.norm() < 0.1
