"""Concurrent requests: one batch at a time, small requests together, a limited number."""

import threading

import anyio
import httpx
import pytest
from tests.web.socket_server import FakeFinder

from thresher.web.app import create_app
from thresher.web.models import ServedModels
from thresher.web.queue import QueueFullError, ScoringQueue
from thresher.web.scoring_steps import STEP_CHARACTERS


class SlowFinder(FakeFinder):
    """A finder that waits until it may go on, and records its batches."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.batches: list[list[str]] = []

    def score_texts(self, texts):
        self.batches.append(list(texts))
        assert self.may_go_on.wait(20)
        if "bad" in texts:
            raise ZeroDivisionError
        return [f"scored {text}" for text in texts]


async def until(condition):
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.001)


def test_waiting_requests_share_a_batch_and_each_gets_its_own_result():
    finder, other = SlowFinder(), SlowFinder()
    other.may_go_on.set()
    results = {}

    async def send_request(queue, name, finder, texts):
        results[name] = await queue.score(finder, texts)

    async def scenario():
        queue = ScoringQueue(max_requests=10)
        async with anyio.create_task_group() as group:
            group.start_soon(send_request, queue, "first", finder, ["a"])
            await until(lambda: finder.batches)
            for name, model, texts in [
                ("second", finder, ["b", "c"]),
                ("elsewhere", other, ["d"]),
                ("third", finder, ["e"]),
                ("long", finder, ["x" * STEP_CHARACTERS]),
                ("last", finder, ["f"]),
            ]:
                group.start_soon(send_request, queue, name, model, texts)
            await until(lambda: len(queue) == 6)
            finder.may_go_on.set()
        assert len(queue) == 0

    anyio.run(scenario)
    assert finder.batches == [["a"], ["b", "c", "e"], ["x" * STEP_CHARACTERS], ["f"]]
    assert other.batches == [["d"]]
    assert results["second"] == ["scored b", "scored c"]
    assert results["third"] == ["scored e"]
    assert results["elsewhere"] == ["scored d"]


def test_a_full_queue_refuses_requests_until_one_is_done():
    finder = SlowFinder()

    async def scenario():
        queue = ScoringQueue(max_requests=2)
        async with anyio.create_task_group() as group:
            group.start_soon(queue.score, finder, ["a"])
            group.start_soon(queue.score, finder, ["b"])
            await until(lambda: len(queue) == 2)
            with pytest.raises(QueueFullError):
                await queue.score(finder, ["c"])
            finder.may_go_on.set()
        assert await queue.score(finder, ["d"]) == ["scored d"]

    anyio.run(scenario)


def test_a_failed_and_a_cancelled_request_leave_the_queue():
    finder = SlowFinder()

    async def scenario():
        queue = ScoringQueue(max_requests=2)
        async with anyio.create_task_group() as group:
            group.start_soon(queue.score, finder, ["a"])
            await until(lambda: finder.batches)
            with anyio.move_on_after(0.01):
                await queue.score(finder, ["given up"])
            assert len(queue) == 1
            finder.may_go_on.set()
        with pytest.raises(ZeroDivisionError):
            await queue.score(finder, ["bad"])
        assert len(queue) == 0
        assert await queue.score(finder, ["b"]) == ["scored b"]

    anyio.run(scenario)
    assert finder.batches == [["a"], ["bad"], ["b"]]


def test_a_failed_request_does_not_fail_the_others_of_its_batch():
    finder = SlowFinder()
    results = {}

    async def send_request(queue, text):
        try:
            results[text] = await queue.score(finder, [text])
        except ZeroDivisionError:
            results[text] = None

    async def scenario():
        queue = ScoringQueue(max_requests=10)
        async with anyio.create_task_group() as group:
            group.start_soon(send_request, queue, "a")
            await until(lambda: finder.batches)
            for text in ("b", "bad", "c"):
                group.start_soon(send_request, queue, text)
            await until(lambda: len(queue) == 4)
            finder.may_go_on.set()

    anyio.run(scenario)
    assert results == {"a": ["scored a"], "b": ["scored b"], "bad": None, "c": ["scored c"]}


def test_a_full_server_answers_503_stays_healthy_and_recovers():
    finder = SlowFinder()
    app = create_app(ServedModels({"slow": finder}), max_waiting=3)
    statuses = []

    async def send_request(client):
        # The slow finder returns strings, so accepted requests fail when the response is built.
        response = await client.post("/find", json={"text": "Oslo"})
        statuses.append((response.status_code, response.headers.get("Retry-After")))

    async def scenario():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(send_request, client)
                await until(lambda: len(statuses) == 5)
                assert (await client.get("/healthz")).json()["status"] == "ok"
                assert "\nthresher_waiting 3.0\n" in (await client.get("/metrics")).text
                finder.may_go_on.set()
            await send_request(client)
            assert "\nthresher_waiting 0.0\n" in (await client.get("/metrics")).text

    anyio.run(scenario)
    assert statuses[:5] == [(503, "1")] * 5
    assert [status for status, _ in statuses[5:]] == [500] * 4
