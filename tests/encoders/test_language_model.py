"""A Thresher language model as an encoder, against the model itself."""

import pytest
import torch

from thresher.encoders import load_encoder
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.protocol import word_vectors
from thresher.encoders.surprisal import CausalSurprisal
from thresher.errors import InputError
from thresher.lm.shape import Shape
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings
from thresher.text.romanization import romanize

TEXT = "Ali went to Lagos. አቶ ከበደ ወደ አዲስ አበባ ሄዱ። Ọmọ náà lọ sí Ìbàdàn.\n\n" * 40
WORDS = ["አቶ", "ከበደ", "went", "to", "Lagos", "."]
SHORT = ["ALI", "ሄዱ"]
CLOSE = {"atol": 1e-5, "rtol": 1e-4}
CONTEXT = 24


def learned(*, causal=False, tokenizer="word-pairs"):
    return fit_language_model(
        TEXT,
        tokenizer=tokenizer,
        shape=Shape(width=16, layers=3, heads=2, context=CONTEXT, causal=causal),
        settings=LanguageModelSettings(
            steps=30, batch=4, warm_up=2, evaluate_every=30, roles=False
        ),
    )


@pytest.fixture(scope="module")
def masked():
    return learned()


@pytest.fixture(scope="module")
def causal():
    return learned(causal=True)


@pytest.fixture(scope="module")
def encoder(masked):
    return LanguageModelEncoder(masked, name="my-lm")


def ids_of(model, words):
    """A line end, the tokens of each word read by itself, and a line end."""
    (end,) = set(model.tokenizer.encode("a\n")[-1:].tolist())
    inside = [token for word in words for token in model.tokenizer.encode(word)[:-1].tolist()]
    return torch.tensor([[end, *inside, end]])


def test_tokens_equal_those_of_the_training_text(masked, encoder):
    batch = encoder.batch([WORDS])
    expected = masked.tokenizer.encode("አቶ ከበደ went to Lagos .")
    assert batch.ids[0, 1:].tolist() == expected.tolist()
    assert batch.ids[0, 0] == expected[-1]
    assert batch.word[0].tolist()[0] == batch.word[0].tolist()[-1] == -1
    assert batch.sentence_of_word.tolist() == [0] * len(WORDS)


def test_every_token_has_the_index_of_its_word(masked, encoder):
    batch = encoder.batch([SHORT, WORDS])
    for number, word in enumerate([*SHORT, *WORDS]):
        assert masked.tokenizer.decode(batch.ids[batch.word == number].tolist()) == (
            " " + romanize(word.casefold())
        )


def test_case_does_not_change_the_tokens(encoder):
    lowered, upper = ([[f(word) for word in WORDS]] for f in (str.lower, str.upper))
    assert torch.equal(encoder.batch(lowered).ids, encoder.batch(upper).ids)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_encode_returns_the_hidden_states_of_the_layer(masked, layer):
    encoder = LanguageModelEncoder(masked, name="my-lm", layer=layer)
    hidden = encoder.encode(encoder.batch([WORDS]))
    model = masked.model
    expected = model.transformer.hidden_states(model.embed(ids_of(masked, WORDS)))[layer]
    torch.testing.assert_close(hidden, expected, **CLOSE)


def test_the_default_layer_is_two_thirds_of_the_way_up(encoder):
    assert encoder.layer == 2


@pytest.mark.parametrize("word", range(len(WORDS)))
def test_closing_a_gate_equals_hiding_all_tokens_of_the_word(masked, encoder, word):
    batch = encoder.batch([WORDS])
    gates = torch.ones(len(WORDS))
    gates[word] = 0
    hidden_ids = batch.ids.masked_fill(batch.word == word, masked.model.mask_id)
    torch.testing.assert_close(
        encoder.encode_gated(batch, gates), masked.model(hidden_ids), **CLOSE
    )
    opened = encoder.encode_gated(batch)
    torch.testing.assert_close(encoder.encode_gated(batch, torch.ones(len(WORDS))), opened)
    torch.testing.assert_close(opened, masked.model(batch.ids), **CLOSE)


def test_gates_have_gradients_and_the_model_has_none(encoder):
    batch = encoder.batch([WORDS])
    gates = torch.full((len(WORDS),), 0.5, requires_grad=True)
    encoder.encode_gated(batch, gates)[..., 0].sum().backward()
    assert (gates.grad != 0).all()
    assert not encoder.encode(batch).requires_grad


def test_padding_does_not_change_hidden_states(encoder):
    together, alone = encoder.batch([SHORT, WORDS]), encoder.batch([SHORT])
    torch.testing.assert_close(
        word_vectors(encoder.encode(together), together)[: len(SHORT)],
        word_vectors(encoder.encode(alone), alone),
        **CLOSE,
    )


def test_a_long_sentence_is_not_truncated(encoder):
    batch = encoder.batch([["ከበደ"] * 100, [], SHORT])
    assert batch.ids.shape[1] <= CONTEXT
    assert set(batch.word.unique().tolist()) == {-1, *range(102)}
    assert (batch.words, batch.sentences) == (102, 3)


@pytest.mark.parametrize("word", ["", "\x00", "\ud800", "😀"])
def test_any_word_has_a_finite_vector(encoder, word):
    batch = encoder.batch([["ali", word]])
    assert word_vectors(encoder.encode(batch), batch).isfinite().all()


def test_a_language_model_is_loaded_from_its_folder_or_near_its_finder(masked, encoder, tmp_path):
    folder = tmp_path / "here" / "my-lm"
    masked.write(folder)
    loaded = load_encoder(str(folder), device="cpu")
    batch = encoder.batch([WORDS])
    assert torch.equal(loaded.encode(loaded.batch([WORDS])), encoder.encode(batch))
    moved = load_encoder("elsewhere/my-lm", device="cpu", near=folder.parent)
    assert moved.name == str(folder)


def test_language_models_that_cannot_encode_words_are_rejected(causal):
    with pytest.raises(InputError, match=r"x is a causal language model.*--objective masked"):
        LanguageModelEncoder(causal, name="x")
    with pytest.raises(
        InputError, match=r"x has the tokens bpe; an encoder of words needs .*word-pairs"
    ):
        LanguageModelEncoder(learned(tokenizer="bpe"), name="x")


@pytest.mark.parametrize("layer", [0, 4])
def test_a_layer_that_does_not_exist_is_rejected(masked, layer):
    with pytest.raises(InputError, match=f"between 1 and 3, got {layer}"):
        LanguageModelEncoder(masked, name="x", layer=layer)


# Surprisal


def test_surprisal_is_the_loss_summed_over_the_tokens_of_a_word(causal):
    ids = ids_of(causal, WORDS)[:, :-1]
    log_p = causal.model.output.all_log_probs(causal.model(ids[:, :-1])).log_softmax(-1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[0, :, 0]
    lengths = [len(causal.tokenizer.encode(word)) - 1 for word in WORDS]
    expected = torch.stack([part.sum() for part in losses.split(lengths)])
    found = CausalSurprisal(causal, name="x").surprisal([SHORT, WORDS])
    torch.testing.assert_close(torch.from_numpy(found[len(SHORT) :]), expected, **CLOSE)


def test_every_token_of_a_long_sentence_is_scored_once(causal):
    reader = CausalSurprisal(causal, name="x")
    words = ["ከበደ", "went", "to"] * 30
    found = reader.surprisal([words])
    assert (found > 0).all()
    pieces = causal.tokenizer.encode_words(words)
    first = next(i for i in range(len(words)) if sum(map(len, pieces[: i + 1])) > CONTEXT - 1)
    alone = reader.surprisal([words[:first]])
    torch.testing.assert_close(torch.from_numpy(found[:first]), torch.from_numpy(alone), **CLOSE)
    assert found.sum() < 20 * sum(map(len, pieces))


def test_surprisal_does_not_depend_on_the_batch_size(causal, monkeypatch):
    reader = CausalSurprisal(causal, name="x")
    sentences = [WORDS, SHORT, WORDS * 9, [], SHORT * 2]
    together = reader.surprisal(sentences)
    monkeypatch.setattr("thresher.encoders.surprisal._MAX_BATCH_TOKENS", 1)
    torch.testing.assert_close(reader.surprisal(sentences), together, **CLOSE)
    assert (together > 0).all()


def test_surprisal_of_no_sentences_is_empty(causal):
    assert CausalSurprisal(causal, name="x").surprisal([[], []]).shape == (0,)


def test_a_masked_language_model_is_rejected_for_surprisal(masked):
    with pytest.raises(InputError, match="x is a masked language model"):
        CausalSurprisal(masked, name="x")
    with pytest.raises(InputError, match="x has the tokens bpe; the surprisal of words needs"):
        CausalSurprisal(learned(causal=True, tokenizer="bpe"), name="x")
