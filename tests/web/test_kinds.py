"""Kinds in requests: from examples, filtered, limited in size, and learned only once."""

import asyncio
import csv
import io
import threading

import pytest
from starlette.testclient import TestClient
from tests.web.socket_server import SteppingFinder, find_request, serving, status, until

from thresher.web.app import create_app
from thresher.web.kinds import MAX_WAITING, KindFinders
from thresher.web.models import ServedModels
from thresher.web.queue import QueueFullError, ScoringQueue

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
        ({"kinds": {"k" * 9999: ["Oslo"]}}, f"kinds.{'k' * 100}.[key]: String should have"),
    ],
)
def test_wrong_kinds_are_refused_with_a_reason(client, fields, reason):
    response = client.post("/find", json={"text": TEXT, **fields})
    assert response.status_code == 422
    assert reason in response.json()["detail"]


class LearningFinder(SteppingFinder):
    """A finder that takes as long as a test needs to learn kinds, and records which it learned."""

    def __init__(self):
        super().__init__()
        self.may_learn = threading.Event()
        self.learned: list[str] = []

    def with_kinds(self, kinds, **options):
        self.learned += kinds
        assert self.may_learn.wait(20)
        return self


def test_the_kinds_of_a_disconnected_client_are_not_learned():
    finder = LearningFinder()
    with serving(finder) as server:
        first = server.send(find_request("Oslo", kinds={"first": ["Paris"]}))
        until(lambda: finder.learned == ["first"])
        for number in range(2 * MAX_WAITING):
            server.send(find_request("Oslo", kinds={f"abandoned{number}": ["Paris"]})).close()
        until(lambda: closed_requests(server) >= 2 * MAX_WAITING)
        finder.may_learn.set()
        assert status(first) == 200
        assert status(server.send(find_request("Oslo", kinds={"last": ["Paris"]}))) == 200
        assert finder.learned == ["first", "last"]


def closed_requests(server) -> int:
    """Return how many requests were answered 503, or not at all because the client had gone."""
    lines = server.send(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
    with lines, lines.makefile() as text:
        counts = [line.split() for line in text if line.startswith("thresher_requests_total{")]
    return sum(int(float(n)) for name, n in counts if 'status="499"' in name or "503" in name)


def test_clients_take_turns_to_have_kinds_learned_and_only_some_requests_of_each_wait():
    finder = LearningFinder()

    async def scenario():
        finders = KindFinders(ScoringQueue(max_requests=100))

        def get(name, client):
            return asyncio.ensure_future(finders.get(finder, {name: ["Paris"]}, client=client))

        busy = [get(f"busy{number}", "busy") for number in range(MAX_WAITING)]
        await asyncio.sleep(0)
        others = [get("a", "other"), get("b", "third")]
        with pytest.raises(QueueFullError):
            await get("too many", "busy")
        while not finder.learned:
            await asyncio.sleep(0.001)
        busy[0].cancel()  # while its kinds are learned
        busy[1].cancel()  # while it waits
        await asyncio.sleep(0.01)
        assert finder.learned == ["busy0"]
        finder.may_learn.set()
        results = await asyncio.gather(*busy, *others, return_exceptions=True)
        assert results == [
            *(item for item in results[:2] if isinstance(item, asyncio.CancelledError)),
            *[finder] * MAX_WAITING,
        ]
        assert await get("busy2", "busy") is finder  # from those that are kept
        assert not finders._waiting

    asyncio.run(scenario())
    assert sorted(finder.learned[1:3]) == ["a", "b"]
    assert finder.learned[3:] == [f"busy{number}" for number in range(2, MAX_WAITING)]
