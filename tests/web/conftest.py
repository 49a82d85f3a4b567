"""A server with the built-in model, called within the process."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from thresher import EntityFinder
from thresher.web.app import create_app
from thresher.web.models import ServedModels


@pytest.fixture(scope="session")
def finder(load_once) -> EntityFinder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.entities.loading.load_encoder", load_once)
        return EntityFinder.default()


@pytest.fixture(scope="session")
def models(finder) -> ServedModels:
    return ServedModels({"english": finder, "again": finder})


@pytest.fixture(scope="session")
def client(models) -> TestClient:
    return TestClient(create_app(models, max_bytes=20_000), raise_server_exceptions=False)


@pytest.fixture(scope="session")
def two_selectors(finder) -> EntityFinder:
    return with_eager_selector(finder)


def with_eager_selector(finder: EntityFinder) -> EntityFinder:
    """Return a finder with a second selector before its own, which selects far more words."""
    [head] = finder.model.selectors
    eager = replace(head, signal_weights=replace(head.signal_weights, lower=4.0), threshold=0.05)
    return EntityFinder(finder.encoder, replace(finder.model, selectors=(eager, head), entity=1))
