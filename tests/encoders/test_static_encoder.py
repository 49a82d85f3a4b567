"""The static encoder against its formula, and what it must not depend on."""

from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from thresher.encoders import subword_ids as subwords
from thresher.encoders.protocol import Encoder, sentence_vectors, word_vectors
from thresher.encoders.static_encoder import StaticEncoder, neighbours
from thresher.encoders.static_files import as_saved, from_files, to_files, to_int8

PIECES = ["[UNK]", "marie", "cur", "##ie", "left", "paris", ".", "##s", "a"]
SENTENCES = [["Marie", "Curie", "left", "Paris", "."], ["."], ["a", "Curie", "lefts"]]


def word_piece() -> Tokenizer:
    ids = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


@pytest.fixture
def encoder() -> StaticEncoder:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = StaticEncoder(word_piece(), torch.randn(len(PIECES), 6), layers=2, reach=2)
        torch.nn.init.normal_(encoder.edge)
    return encoder.double().eval()


def vectors_of(encoder, sentences):
    batch = encoder.batch(sentences)
    return word_vectors(encoder.encode(batch), batch)


def written_out(encoder, words):
    """The formula, a word at a time, in NumPy: (words, width)."""
    state = {name: value.numpy() for name, value in encoder.state_dict().items()}
    rows = []
    for word in words:
        ids = encoder.tokenizer.encode([word.casefold()], is_pretokenized=True).ids
        rows.append(state["vectors"][ids].mean(0) if ids else np.zeros(encoder.width))
    for layer in range(encoder.layer):
        after = []
        for i, row in enumerate(rows):
            around = [
                rows[j] if 0 <= j < len(rows) else state["edge"]
                for j in range(i - encoder.reach, i + encoder.reach + 1)
            ]
            weight, bias = state[f"mixing.{layer}.weight"], state[f"mixing.{layer}.bias"]
            mixed = torch.from_numpy(weight @ np.concatenate(around) + bias)
            x = row + torch.nn.functional.gelu(mixed).numpy()
            x = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
            after.append(x * state[f"norms.{layer}.weight"] + state[f"norms.{layer}.bias"])
        rows = after
    return np.stack(rows)


def test_vectors_agree_with_the_formula(encoder):
    expected = np.concatenate([written_out(encoder, words) for words in SENTENCES])
    np.testing.assert_allclose(
        vectors_of(encoder, SENTENCES).detach().numpy(), expected, atol=1e-12
    )


def test_it_implements_the_encoder_protocol(encoder):
    as_encoder: Encoder = encoder
    assert (as_encoder.name, as_encoder.width, as_encoder.layer) == ("static", 6, 2)
    assert as_encoder.device == torch.device("cpu")
    assert as_encoder.common_words == {"marie", "cur", "left", "paris", "a"}


def test_a_word_depends_only_on_words_of_its_sentence_within_reach(encoder):
    words = ["marie", "left", "paris", "a", "curie", ".", "left", "marie", "paris", "."]
    alone = vectors_of(encoder, [words])
    among = vectors_of(encoder, [["paris", "."], words, [], ["curie"]])[2 : 2 + len(words)]
    torch.testing.assert_close(among, alone, atol=1e-12, rtol=0)
    changed = vectors_of(encoder, [["curie", *words[1:]]])
    differs = (changed - alone).abs().amax(1) > 1e-9
    assert differs.tolist() == [True] * 5 + [False] * 5  # two layers that reach two words


def test_case_does_not_change_the_vectors(encoder):
    shouted = [[word.upper() for word in words] for words in SENTENCES]
    assert torch.equal(vectors_of(encoder, shouted), vectors_of(encoder, SENTENCES))


def test_a_closed_word_has_no_influence(encoder):
    with_marie, with_paris = (encoder.batch([[name, "left", "."]]) for name in ("marie", "paris"))
    gates = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64)
    closed = [encoder.encode_gated(batch, gates) for batch in (with_marie, with_paris)]
    torch.testing.assert_close(closed[0], closed[1])
    opened = encoder.encode_gated(with_marie, torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(opened, encoder.encode(with_marie))
    assert not torch.allclose(opened, closed[0])


def test_gradients_reach_the_gates(encoder):
    batch = encoder.batch(SENTENCES)
    gates = torch.rand(batch.words, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda g: sentence_vectors(encoder.encode_gated(batch, g), batch), gates
    )


@given(lengths=st.lists(st.integers(0, 5), max_size=5), reach=st.integers(1, 3))
def test_neighbours_agree_with_an_enumeration(lengths, reach):
    sentence = [number for number, length in enumerate(lengths) for _ in range(length)]
    found = neighbours(torch.tensor(sentence, dtype=torch.long), reach=reach)
    total = len(sentence)
    assert found.tolist() == [
        [
            j if 0 <= j < total and sentence[j] == sentence[i] else total
            for j in range(i - reach, i + reach + 1)
        ]
        for i in range(total)
    ]


@pytest.mark.parametrize("sentences", [[], [[]], [[], []], [["\u200b"]], [["left"], [], ["x y"]]])
def test_a_batch_may_lack_sentences_words_or_tokens(encoder, sentences):
    batch = encoder.batch(sentences)
    assert batch.sentences == len(sentences)
    assert batch.words == sum(map(len, sentences))
    assert vectors_of(encoder, sentences).shape == (batch.words, 6)


@pytest.mark.parametrize("sentences", [[], [["\u200b"], ["anna", "\u200b", "left"]], [["anna"]]])
def test_words_are_the_means_of_their_tokens_and_zero_without_any(encoder, sentences):
    batch = encoder.batch(sentences)
    expected = word_vectors(encoder.encode(batch), batch)
    torch.testing.assert_close(encoder.encode_by_word(batch), expected)


def test_tokens_equal_those_of_the_tokenizer_even_after_the_cache_was_emptied(encoder, monkeypatch):
    monkeypatch.setattr(subwords, "CACHE_SIZE", 3)
    for sentences in (SENTENCES, [["Paris"]], SENTENCES, [["half \ud800", "Marie"]]):
        batch = encoder.batch(sentences)
        words = [word.casefold().encode(errors="replace").decode() for word in chain(*sentences)]
        own = [encoder.tokenizer.encode([word], is_pretokenized=True).ids for word in words]
        assert batch.ids[batch.word >= 0].tolist() == list(chain(*own))
        owners = [number for number, ids in enumerate(own) for _ in ids]
        assert batch.word[batch.word >= 0].tolist() == owners
        assert torch.equal(batch.mask.bool(), batch.word >= 0)


def test_a_saved_encoder_is_loaded_unchanged(encoder):
    saved = as_saved(encoder.float())
    again = from_files(to_files(saved))
    assert (again.reach, again.layer, again.width) == (2, 2, 6)
    assert torch.equal(vectors_of(again, SENTENCES), vectors_of(saved, SENTENCES))
    assert not any(parameter.requires_grad for parameter in again.parameters())


def test_int8_rounding_errors_are_at_most_half_a_step():
    vectors = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    vectors[7] = 0
    numbers, scales = to_int8(vectors)
    assert numbers.dtype == torch.int8
    error = (numbers.float() * scales[:, None] - vectors).abs()
    assert bool((error <= scales[:, None] * 0.5001).all())
    assert not numbers[7].any()


def test_inconsistent_files_are_rejected(encoder):
    files = to_files(encoder.float())
    with pytest.raises(ValueError, match="contains no tokenizer"):
        from_files(files | {"tokenizer.json": b"{}"})
    other = word_piece()
    other.add_tokens(["one", "more"])
    with pytest.raises(ValueError, match="token ids up to 10, but the model has 9 vectors"):
        from_files(files | {"tokenizer.json": other.to_str().encode()})
