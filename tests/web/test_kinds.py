"""Kinds in requests: from examples, filtered, limited in size, and learned only once."""

import csv
import io

import pytest
from starlette.testclient import TestClient

from thresher.web.app import create_app
from thresher.web.models import ServedModels

TEXT = "Ingrid Solberg flew from Oslo to Hamburg with Tomasz Wilk."
KINDS = {
    "person": ["Marie Curie", "Barack Obama", "Jensen Huang"],
    "city": ["Paris", "Boston", "Madrid"],
}


@pytest.fixture(scope="module")
def learned() -> list:
    """The examples that were given to the finder."""
    return []


@pytest.fixture(scope="module")
def client(finder, learned) -> TestClient:
    class Counting(type(finder)):
        def with_kinds(self, kinds, **options):
            learned.append(kinds)
            return super().with_kinds(kinds, **options)

    counting = Counting(finder.encoder, finder.model)
    models = ServedModels({"english": counting})
    for number, each in enumerate(models.models[0].finders):
        models.models[0].finders[number].__class__ = Counting
        assert isinstance(each, Counting)
    return TestClient(create_app(models))


def find(client, **request):
    response = client.post("/find", json={"text": TEXT, **request})
    assert response.status_code == 200, response.text
    return response.json()


def test_examples_give_the_kinds_of_a_request(client, finder):
    found = find(client, kinds=KINDS)
    assert found["kinds"] == ["person", "city"]
    [result] = found["results"]
    expected = finder.with_kinds(KINDS).find(TEXT)
    assert [(s["text"], s.get("kind")) for s in result["spans"]] == [
        (span.text, span.kind) for span in expected
    ]
    assert {"person", "city"} <= {span.get("kind") for span in result["spans"]}


def test_the_same_examples_are_learned_once(client, learned):
    learned.clear()
    examples = {"person": ["Ada Lovelace"], "city": ["Turin"]}
    for _ in range(3):
        find(client, kinds=examples)
    assert learned == [examples]


def test_without_kinds_there_are_none(client):
    found = find(client, kinds={})
    assert "kinds" not in found
    assert all("kind" not in span for span in found["results"][0]["spans"])


def test_only_some_kinds_are_returned(client):
    def texts(only):
        spans = find(client, kinds=KINDS, only=only)["results"][0]["spans"]
        return [span["text"] for span in spans]

    everything = [span["text"] for span in find(client, kinds=KINDS)["results"][0]["spans"]]
    assert 0 < len(texts(["city"])) < len(everything)
    assert sorted(texts(["city"]) + texts(["person", None])) == sorted(everything)


def test_a_download_has_kinds_and_the_same_filter(client):
    body = {"text": TEXT, "kinds": KINDS, "only": ["city"], "format": "csv"}
    response = client.post("/download", json=body)
    rows = list(csv.DictReader(io.StringIO(response.text)))
    spans = find(client, kinds=KINDS, only=["city"])["results"][0]["spans"]
    assert [(row["text"], row["kind"]) for row in rows] == [(s["text"], "city") for s in spans]
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"only": ["plce"], "kinds": KINDS}, "unknown kind 'plce' in `only`; choose from person"),
        ({"only": []}, "only: List should have at least 1 item"),
        ({"kinds": {"person": []}}, "kinds.person: List should have at least 1 item"),
        ({"kinds": {"person": ["a"] * 101}}, "kinds.person: List should have at most 100 items"),
        ({"kinds": {f"k{i}": ["a"] for i in range(31)}}, "kinds: Dictionary should have at most"),
        ({"kinds": {"person": ["a" * 101]}}, "kinds.person.0: String should have at most 100"),
        ({"kinds": {"person": ["Oslo"], "city": ["Oslo"]}}, "Oslo"),
    ],
)
def test_wrong_kinds_are_refused_with_a_reason(client, fields, reason):
    response = client.post("/find", json={"text": TEXT, **fields})
    assert response.status_code == 422
    assert reason in response.json()["detail"]
