"""Finders that share one encoder."""

import pytest

from thresher import EntityFinder


@pytest.fixture(autouse=True)
def _encoder_loaded_once(load_once, monkeypatch):
    """Loading takes a second."""
    monkeypatch.setattr("thresher.entities.loading.load_encoder", load_once)


@pytest.fixture
def finder() -> EntityFinder:
    return EntityFinder.default()
