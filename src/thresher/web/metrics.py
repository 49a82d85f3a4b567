"""Metrics of a running server for Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
CLIENT_CLOSED_REQUEST = 499  # the status that nginx logs for a client that disconnected


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self, *, waiting: Callable[[], int]) -> None:
        """Register the metrics.

        waiting: returns the number of requests in the queue
        """
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "thresher_requests",
            "Responses by path and status.",
            ["path", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "thresher_request_seconds",
            "Seconds from a request to the end of its response.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.texts = Counter("thresher_texts", "Processed texts.", registry=self.registry)
        self.characters = Counter(
            "thresher_characters", "Characters of the processed texts.", registry=self.registry
        )
        queue = Gauge(
            "thresher_waiting", "Requests that wait or are processed.", registry=self.registry
        )
        queue.set_function(waiting)
        ProcessCollector(registry=self.registry)

    def count_response(self, path: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.requests.labels(path, status).inc()
        self.seconds.observe(seconds)

    def count_texts(self, texts: list[str]) -> None:
        """Count processed texts."""
        self.texts.inc(len(texts))
        self.characters.inc(sum(map(len, texts)))

    def exposition(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class MetricsMiddleware:
    """Middleware that counts the responses of an application.

    paths: paths with a label of their own; all others are counted as "other"
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app = app
        self.metrics = metrics
        self.paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application and count its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = CLIENT_CLOSED_REQUEST
        start = time.perf_counter()

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_record)
        except Exception:
            status = 500
            raise
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.count_response(path, status, time.perf_counter() - start)
