"""Finders that share one encoder."""

import pytest

from thresher import EntityFinder


@pytest.fixture(autouse=True)
def _encoder_loaded_once(minilm, monkeypatch):
    """Loading takes a second."""
    monkeypatch.setattr("thresher.entities.finder.load_encoder", lambda *_, **__: minilm)


@pytest.fixture
def finder() -> EntityFinder:
    return EntityFinder.default()
