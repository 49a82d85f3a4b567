"""A server over the built-in model, asked within the process."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from thresher import EntityFinder
from thresher.web.app import create_app
from thresher.web.models import Shelf


@pytest.fixture(scope="session")
def finder(load_once) -> EntityFinder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.entities.finder.load_encoder", load_once)
        return EntityFinder.default()


@pytest.fixture(scope="session")
def shelf(finder) -> Shelf:
    return Shelf({"english": finder, "again": finder})


@pytest.fixture(scope="session")
def client(shelf) -> TestClient:
    return TestClient(create_app(shelf, most_bytes=20_000), raise_server_exceptions=False)


@pytest.fixture(scope="session")
def twofold(finder) -> EntityFinder:
    """The same with another selector before it, that selects far more."""
    [head] = finder.model.heads
    eager = replace(head, signal_weights=replace(head.signal_weights, lower=5.0), threshold=0.05)
    return EntityFinder(finder.encoder, replace(finder.model, heads=(eager, head), entity=1))
