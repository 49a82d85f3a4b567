"""Compact ids are those that encoding the whole text gives."""

import resource
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.choices import TokenizerKind
from thresher.lm.shape import Shape
from thresher.lm.tokens import text_range
from thresher.lm.tokens.counts import token_counts
from thresher.lm.tokens.encoding import compact_dtype, encode_text, state_path
from thresher.lm.tokens.factory import learn_tokenizer
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings

TEXT = "The sea was calm. The boats\r\nlay still.\n\nNobody came.\u2028 The sea rose.\x85" * 9


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ids")


@pytest.fixture(params=["memory", "file"])
def path(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "ids"


@pytest.mark.parametrize("kind", TokenizerKind)
@pytest.mark.parametrize("piece", [1, 50, 10_000])
def test_ids_are_those_of_the_whole_text(path, monkeypatch, kind, piece):
    tokenizer = learn_tokenizer(kind, TEXT)
    expected = tokenizer.encode(TEXT).tolist()
    monkeypatch.setattr(text_range, "PIECE_CHARACTERS", piece)
    ids = encode_text(tokenizer, TEXT, path=path).ids
    assert ids.dtype == torch.int16
    assert ids.tolist() == expected
    assert encode_text(tokenizer, "", path=path).ids.tolist() == []


@pytest.mark.parametrize("kind", TokenizerKind)
def test_a_part_of_a_text_is_encoded_like_a_copy_of_it(path, kind):
    tokenizer = learn_tokenizer(kind, TEXT)
    part = TextRange(TEXT, 7, 200)
    expected = tokenizer.encode(TEXT[7:200]).tolist()
    assert encode_text(tokenizer, part, path=path).ids.tolist() == expected


@given(st.text(st.sampled_from("a \n\r\v\x85\u2028"), max_size=40), st.integers(1, 9))
def test_no_token_depends_on_where_pieces_end(folder, text, piece):
    tokenizer = learn_tokenizer("bpe", "a a\na\r\n" * 20)
    expected = tokenizer.encode(text).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_range, "PIECE_CHARACTERS", piece)
        assert encode_text(tokenizer, text, path=folder / "ids").ids.tolist() == expected


@pytest.mark.parametrize(
    ("vocabulary", "dtype"), [(2, np.int16), (32768, np.int16), (32769, np.int32)]
)
def test_the_dtype_holds_every_id(vocabulary, dtype):
    assert compact_dtype(vocabulary) == dtype
    assert np.iinfo(dtype).max >= vocabulary - 1


def test_encoding_to_a_file_needs_memory_for_a_few_pieces_only(tmp_path, monkeypatch):
    monkeypatch.setattr(text_range, "PIECE_CHARACTERS", 1 << 12)
    text, tokenizer = TEXT * 1000, learn_tokenizer("characters", TEXT)
    tracemalloc.start()
    encode_text(tokenizer, text, path=tmp_path / "ids")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(text) > 600_000 > peak


def test_a_model_learns_the_same_from_ids_in_files(tmp_path):
    """With a work folder ids are in files, without one they are in memory."""
    options = {
        "shape": Shape(width=16, layers=1, heads=1, context=16),
        "settings": LanguageModelSettings(steps=3, batch=2, evaluate_every=3),
    }
    from_files = fit_language_model(TEXT * 3, work_dir=tmp_path, **options)
    assert (tmp_path / "train.ids").stat().st_size > 2 * 1000
    from_memory = fit_language_model(TEXT * 3, **options)
    losses = [[row["training_loss"] for row in each.log] for each in (from_files, from_memory)]
    assert losses[0] == losses[1]
    assert from_files.test.loss == from_memory.test.loss


def test_ids_of_an_earlier_text_stay_as_they_are(tmp_path):
    """Truncating a file that is mapped would crash the process that reads it."""
    tokenizer = learn_tokenizer("characters", "ab")
    before = encode_text(tokenizer, "ba" * 10_000, path=tmp_path / "ids").ids
    after = encode_text(tokenizer, "a", path=tmp_path / "ids").ids
    assert after.tolist() == [0]
    assert before.tolist() == [1, 0] * 10_000


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot write token ids to"):
        encode_text(learn_tokenizer("characters", "ab"), "ab", path=tmp_path / "none" / "ids")


def test_a_full_disk_is_reported_and_not_a_shorter_text(tmp_path):
    """A limit on the size of files stands for the disk; the last bytes are written on closing."""
    tokenizer = learn_tokenizer(TokenizerKind.CHARACTERS, "ab")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match="cannot write token ids to"):
            encode_text(tokenizer, "ab" * 1000, path=tmp_path / "train.ids")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("kind", ["bpe", "characters"])
@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_an_interrupted_encoding_continues_where_it_was(kind, stop_after, tmp_path, monkeypatch):
    monkeypatch.setattr(text_range, "_BLOCK_CHARACTERS", 100)
    tokenizer = learn_tokenizer(kind, TEXT)
    expected = encode_text(tokenizer, TEXT)
    done = []

    def stop(characters):
        done.append(characters)
        if len(done) == stop_after:
            raise KeyboardInterrupt

    path = tmp_path / "ids"
    with pytest.raises(KeyboardInterrupt):
        encode_text(tokenizer, TEXT, path=path, resumable=True, on_progress=stop)
    with path.open("ab") as file:
        file.write(b"half of a block")  # that was written after the last state
    encoded, encode = [], type(tokenizer).encode_pieces

    def recorded(self, text):
        encoded.append(str(text))
        return encode(self, text)

    monkeypatch.setattr(type(tokenizer), "encode_pieces", recorded)
    again = encode_text(tokenizer, TEXT, path=path, resume=True)
    assert again.ids.tolist() == expected.ids.tolist()
    assert again.counts.tolist() == expected.counts.tolist()
    assert sum(map(len, encoded)) == len(TEXT) - sum(done)
    assert encode_text(tokenizer, TEXT, path=path, resume=True).ids.tolist() == again.ids.tolist()
    state_path(path).write_text("{}")
    assert encode_text(tokenizer, TEXT, path=path, resume=True).ids.tolist() == again.ids.tolist()


def test_tokens_are_counted_while_they_are_encoded(path):
    tokenizer = learn_tokenizer("bpe", TEXT)
    encoded = encode_text(tokenizer, TEXT, path=path)
    expected = token_counts(encoded.ids.numpy(), tokenizer.vocabulary)
    assert torch.equal(encoded.counts, expected)
