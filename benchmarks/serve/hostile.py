"""Small requests while other clients are slow, silent, numerous, abandon requests or send much."""

import asyncio
import io
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from statistics import quantiles

import httpx

from benchmarks.serve.running import (
    WORDS,
    RunningServer,
    example_words,
    large_text,
    request_body,
)
from thresher.web.server import raise_descriptor_limit

CONNECTIONS, TRICKLING, ABANDONED, LARGE, SMALL_CLIENTS = 1000, 100, 10, 5, 4
PAUSE = 0.1  # seconds between the small requests of a client
HEADERS = b"POST /find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

Client = Callable[[RunningServer], Awaitable[None]]


async def half_open(server: RunningServer) -> None:
    """Send half of the headers and nothing more; begin again when the server closes."""
    while True:
        async with connection(server) as (reader, writer):
            writer.write(HEADERS)
            await reader.read()


async def idle(server: RunningServer) -> None:
    """Send one request and keep the connection open without a further one."""
    while True:
        async with connection(server) as (reader, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while await reader.read(10_000):
                pass


async def trickling_headers(server: RunningServer) -> None:
    """Send headers, one byte in a tenth of a second."""
    await trickle(server, HEADERS + b"X-Long: ")


async def trickling_body(server: RunningServer) -> None:
    """Send a body, one byte in a tenth of a second."""
    await trickle(server, HEADERS + b"Content-Length: 100000\r\n\r\n")


async def trickle(server: RunningServer, start: bytes) -> None:
    """Send a start, then single bytes for as long as the server accepts them."""
    while True:
        async with connection(server) as (_, writer):
            writer.write(start)
            while not writer.is_closing():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.1)


async def abandoned_post(server: RunningServer) -> None:
    """Send a large request, disconnect after a moment, and begin again."""
    body = json.dumps({"text": large_text(), "words": True}).encode()
    while True:
        async with connection(server) as (_, writer):
            writer.write(HEADERS + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
            await asyncio.sleep(1)


async def large_post(server: RunningServer) -> None:
    """Send large requests one after the other and wait for each response."""
    body = {"text": large_text(), "words": True}
    async with httpx.AsyncClient(base_url=server.address, timeout=600) as client:
        while True:
            await client.post("/find", json=body)


@asynccontextmanager
async def connection(
    server: RunningServer,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection for the block; what goes wrong on it is ignored."""
    with suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            with suppress(OSError):
                yield reader, writer
        finally:
            writer.transport.abort()
    await asyncio.sleep(1)


CASES: dict[str, list[tuple[Client, int]]] = {
    "no other clients": [],
    f"{CONNECTIONS:,} half-open connections": [(half_open, CONNECTIONS)],
    f"{CONNECTIONS:,} idle connections": [(idle, CONNECTIONS)],
    f"{CONNECTIONS:,} half-open and {CONNECTIONS:,} idle connections": [
        (half_open, CONNECTIONS),
        (idle, CONNECTIONS),
    ],
    f"{TRICKLING} clients that send headers or bodies byte by byte": [
        (trickling_headers, TRICKLING // 2),
        (trickling_body, TRICKLING // 2),
    ],
    f"{ABANDONED} clients that send 470 kB and disconnect after a second": [
        (abandoned_post, ABANDONED)
    ],
    f"{LARGE} clients that send 470 kB and wait": [(large_post, LARGE)],
}


@contextmanager
def other_clients(server: RunningServer, case: str) -> Iterator[None]:
    """Run the other clients of a case in a process of their own for the block."""
    if not CASES[case]:
        yield
        return
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_run_clients, args=(server.address, case), daemon=True)
    process.start()
    time.sleep(5)  # until they are connected
    try:
        yield
        assert process.is_alive()
    finally:
        process.kill()
        process.join()


def _run_clients(address: str, case: str) -> None:
    async def run() -> None:
        server = RunningServer(address, io.StringIO())
        async with asyncio.TaskGroup() as group:
            for client, number in CASES[case]:
                for _ in range(number):
                    group.create_task(_forever(client, server))

    raise_descriptor_limit()
    asyncio.run(run())


async def _forever(client: Client, server: RunningServer) -> None:
    while True:
        with suppress(OSError, httpx.HTTPError):
            await client(server)
        await asyncio.sleep(1)


async def measure_small_requests(server: RunningServer, seconds: float) -> dict[str, object]:
    """Return the latencies of small requests, each on a new connection."""
    log_lines = server.log_lines()
    latencies: list[float] = []
    statuses: Counter[str] = Counter()
    end = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as group:
        for number in range(SMALL_CLIENTS):
            group.create_task(_send_small(server, number, end, latencies, statuses))
    percentiles = quantiles(latencies, n=100)
    return {
        "requests": len(latencies),
        "statuses": dict(statuses),
        "median": round(percentiles[49], 4),
        "p95": round(percentiles[94], 4),
        "worst": round(max(latencies), 4),
        "log_lines": server.log_lines() - log_lines,
    }


async def _send_small(
    server: RunningServer,
    number: int,
    end: float,
    latencies: list[float],
    statuses: Counter[str],
) -> None:
    words = example_words()
    while time.perf_counter() < end:
        start = (number * 37 + len(latencies) * WORDS) % (len(words) - WORDS)
        body = request_body(words[start : start + WORDS])
        started = time.perf_counter()
        try:
            async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
                statuses[str((await client.post("/find", json=body)).status_code)] += 1
        except httpx.HTTPError as error:
            statuses[type(error).__name__] += 1
        latencies.append(time.perf_counter() - started)
        await asyncio.sleep(PAUSE)
