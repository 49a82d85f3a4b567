"""Concurrent requests: in turn, together where they can be, and never too many."""

import threading
from types import SimpleNamespace

import anyio
import httpx
import pytest

from thresher.web import queue as queues
from thresher.web.app import create_app
from thresher.web.models import Shelf
from thresher.web.queue import QueueFullError, ReadingQueue


class SlowFinder:
    """Reads when it is told to; notes what it was given together."""

    threshold = 0.5
    model = SimpleNamespace(heads=[None], entity=0)

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.batches: list[list[str]] = []

    def with_selector(self, number):
        return self

    def read_all(self, texts):
        self.batches.append(list(texts))
        assert self.may_go_on.wait(20)
        if "bad" in texts:
            raise ZeroDivisionError
        return [f"read {text}" for text in texts]


@pytest.fixture(autouse=True)
def slow_reading(monkeypatch):
    monkeypatch.setattr(queues, "read_all", lambda finder, texts: finder.read_all(texts))


async def until(condition):
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.001)


def test_requests_that_wait_are_read_together_and_each_gets_its_own():
    finder, other = SlowFinder(), SlowFinder()
    other.may_go_on.set()
    answers = {}

    async def ask(queue, name, finder, texts):
        answers[name] = await queue.read(finder, texts)

    async def scene():
        queue = ReadingQueue(most=10)
        async with anyio.create_task_group() as group:
            group.start_soon(ask, queue, "first", finder, ["a"])
            await until(lambda: finder.batches)
            for name, model, texts in [
                ("second", finder, ["b", "c"]),
                ("elsewhere", other, ["d"]),
                ("third", finder, ["e"]),
                ("long", finder, ["x" * queues.TOGETHER]),
                ("last", finder, ["f"]),
            ]:
                group.start_soon(ask, queue, name, model, texts)
            await until(lambda: len(queue) == 6)
            finder.may_go_on.set()
        assert len(queue) == 0

    anyio.run(scene)
    assert finder.batches == [["a"], ["b", "c", "e"], ["x" * queues.TOGETHER], ["f"]]
    assert other.batches == [["d"]]
    assert answers["second"] == ["read b", "read c"]
    assert answers["third"] == ["read e"]
    assert answers["elsewhere"] == ["read d"]


def test_one_too_many_is_refused_and_room_is_made_again():
    finder = SlowFinder()

    async def scene():
        queue = ReadingQueue(most=2)
        async with anyio.create_task_group() as group:
            group.start_soon(queue.read, finder, ["a"])
            group.start_soon(queue.read, finder, ["b"])
            await until(lambda: len(queue) == 2)
            with pytest.raises(QueueFullError):
                await queue.read(finder, ["c"])
            finder.may_go_on.set()
        assert await queue.read(finder, ["d"]) == ["read d"]

    anyio.run(scene)


def test_a_failure_and_a_client_that_goes_away_leave_room():
    finder = SlowFinder()

    async def scene():
        queue = ReadingQueue(most=2)
        async with anyio.create_task_group() as group:
            group.start_soon(queue.read, finder, ["a"])
            await until(lambda: finder.batches)
            with anyio.move_on_after(0.01):
                await queue.read(finder, ["given up"])
            assert len(queue) == 1
            finder.may_go_on.set()
        with pytest.raises(ZeroDivisionError):
            await queue.read(finder, ["bad"])
        assert len(queue) == 0
        assert await queue.read(finder, ["b"]) == ["read b"]

    anyio.run(scene)
    assert finder.batches == [["a"], ["bad"], ["b"]]


def test_a_failure_of_one_request_is_not_that_of_those_read_with_it():
    finder = SlowFinder()
    answers = {}

    async def ask(queue, text):
        try:
            answers[text] = await queue.read(finder, [text])
        except ZeroDivisionError:
            answers[text] = None

    async def scene():
        queue = ReadingQueue(most=10)
        async with anyio.create_task_group() as group:
            group.start_soon(ask, queue, "a")
            await until(lambda: finder.batches)
            for text in ("b", "bad", "c"):
                group.start_soon(ask, queue, text)
            await until(lambda: len(queue) == 4)
            finder.may_go_on.set()

    anyio.run(scene)
    assert answers == {"a": ["read a"], "b": ["read b"], "bad": None, "c": ["read c"]}


def test_a_full_server_answers_503_is_healthy_and_recovers():
    finder = SlowFinder()
    app = create_app(Shelf({"slow": finder}), most_waiting=3)
    statuses = []

    async def ask(client):
        # What the slow finder reads is no text, so that a request that gets through fails later.
        answer = await client.post("/find", json={"text": "Oslo"})
        statuses.append((answer.status_code, answer.headers.get("Retry-After")))

    async def scene():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(ask, client)
                await until(lambda: len(statuses) == 5)
                assert (await client.get("/healthz")).json()["status"] == "ok"
                assert "\nthresher_waiting 3\n" in (await client.get("/metrics")).text
                finder.may_go_on.set()
            await ask(client)
            assert "\nthresher_waiting 0\n" in (await client.get("/metrics")).text

    anyio.run(scene)
    assert statuses[:5] == [(503, "1")] * 5
    assert [status for status, _ in statuses[5:]] == [500] * 4
