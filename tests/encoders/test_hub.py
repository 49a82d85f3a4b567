"""Encoders are downloaded with one request and a timeout; the tests use no network."""

import shutil
import time

import pytest
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import RepositoryNotFoundError

from thresher.encoders import DEFAULT_ENCODER, hub, load_encoder, loading
from thresher.errors import InputError

REVISION = "a" * 40


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Where downloads are kept: nothing at first."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def timeouts(monkeypatch, cache):
    """The timeouts of all requests to the Hub, which cannot be reached."""
    timeouts = []

    def unreachable(self, name, *, timeout=None, **_):
        timeouts.append(timeout)
        raise ConnectionError

    monkeypatch.setattr(HfApi, "model_info", unreachable)
    return timeouts


def keep(cache, name, folder):
    """Copy a folder to the cache, as if it had been downloaded under that name."""
    place = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(folder, place / "snapshots" / REVISION)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(REVISION)


def test_an_unknown_name_offline_fails_at_once_with_one_line(timeouts):
    began = time.monotonic()
    with pytest.raises(InputError, match=r"'unknown/name'.* cannot be reached; give a fold"):
        load_encoder("unknown/name", device="cpu")
    assert time.monotonic() - began < 10  # retrying for each file would take a minute
    assert timeouts == [10]


@pytest.mark.parametrize("name", ["one/two/three", "a name", "/nowhere/at/all"])
def test_an_invalid_name_is_rejected(cache, name):
    with pytest.raises(
        InputError, match="no such folder, and it is not a valid name on the Hub; give"
    ):
        load_encoder(name, device="cpu")


def test_a_model_that_the_hub_does_not_have_is_rejected(cache, monkeypatch):
    def missing(*_, **__):
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr(HfApi, "model_info", missing)
    with pytest.raises(InputError, match="the Hub has no such model; give a folder, or a model"):
        hub.download("someone/nothing")


def test_a_cached_model_is_used_offline(timeouts, cache, tiny_folder):
    keep(cache, "some/name", tiny_folder)
    encoder = load_encoder("some/name", device="cpu")
    assert (encoder.name, encoder.width) == ("some/name", 8)


def test_models_are_downloaded_without_pickles(cache, monkeypatch, tmp_path):
    downloads = []
    monkeypatch.setattr(HfApi, "model_info", lambda *_, **__: object())
    monkeypatch.setattr(
        hub, "snapshot_download", lambda name, **given: downloads.append((name, given)) or tmp_path
    )
    assert hub.download("some/name") == tmp_path
    [(name, given)] = downloads
    assert (name, given["local_files_only"]) == ("some/name", False)
    assert not any(pattern.endswith((".bin", ".pt", "*")) for pattern in given["allow_patterns"])


def test_a_wrong_layer_of_the_downloaded_default_encoder_is_reported_as_such(
    timeouts, cache, tiny_folder, monkeypatch
):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    keep(cache, DEFAULT_ENCODER, tiny_folder)
    with pytest.raises(InputError, match="must be between 1 and 2, got 9"):
        load_encoder(layer=9, device="cpu")
