"""Fixtures of the tests that read texts from files."""

import pytest


@pytest.fixture
def problems():
    return []


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
