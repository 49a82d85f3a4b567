"""Figures of a running server, in the text form that Prometheus reads."""

import mmap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds

LEFT = 499  # as other servers count a client that left before its answer

_MEMORY = Path("/proc/self/statm")  # in pages; its second number is what is in use


class Metrics:
    """What was asked and answered since the server started."""

    def __init__(self, *, waiting: Callable[[], int]) -> None:
        self._waiting = waiting
        self.requests: Counter[tuple[str, int]] = Counter()
        self.texts = 0
        self.characters = 0
        self._seconds = 0.0
        self._faster_than: Counter[float] = Counter()

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests[path, status] += 1
        self._seconds += seconds
        self._faster_than.update(bound for bound in BOUNDS if seconds <= bound)

    def lines(self) -> Iterator[str]:
        """The figures, a line each, with what they mean."""
        yield from _described("thresher_requests_total", "counter", "Answers, by path and status.")
        for (path, status), count in sorted(self.requests.items()):
            yield f'thresher_requests_total{{path="{path}",status="{status}"}} {count}'
        yield from _described("thresher_request_seconds", "histogram", "How long answers took.")
        total = self.requests.total()
        for bound in BOUNDS:
            count = self._faster_than[bound]
            yield f'thresher_request_seconds_bucket{{le="{bound}"}} {count}'
        yield f'thresher_request_seconds_bucket{{le="+Inf"}} {total}'
        yield f"thresher_request_seconds_sum {self._seconds:.6f}"
        yield f"thresher_request_seconds_count {total}"
        yield from _described("thresher_texts_total", "counter", "Texts that were read.")
        yield f"thresher_texts_total {self.texts}"
        yield from _described("thresher_characters_total", "counter", "Their characters.")
        yield f"thresher_characters_total {self.characters}"
        yield from _described("thresher_waiting", "gauge", "Requests that wait or are read.")
        yield f"thresher_waiting {self._waiting()}"
        if _MEMORY.exists():
            yield from _described("process_resident_memory_bytes", "gauge", "Memory in use.")
            yield f"process_resident_memory_bytes {resident_memory()}"


def _described(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"


def resident_memory() -> int:
    """The memory that this process uses, in bytes."""
    return int(_MEMORY.read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


class Measured:
    """Counts the answers of an application, by path if it is one of `paths`."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app = app
        self.metrics = metrics
        self.paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and note how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = LEFT
        start = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception:
            status = 500
            raise
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.answered(path, status, time.perf_counter() - start)
