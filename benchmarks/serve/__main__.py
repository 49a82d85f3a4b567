"""Measure `thresher serve`: the latency of one text, 50 concurrent clients, a full queue.

    python -m benchmarks.serve              one minute of load
    python -m benchmarks.serve --seconds 10

Server and clients share this machine. The clients send the requests of the web page to the built-in
model.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from statistics import mean, median, quantiles

import httpx

from benchmarks.data import ROOT
from benchmarks.serve.section import RESULT

CLIENTS, WORDS, LONG_TEXT_WORDS, BURST = 50, 50, 500, 200


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server with default options in a process of its own; yield its address."""
    command = [sys.executable, "-m", "thresher", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().partition(" ")[0]
        finally:
            server.terminate()


def example_words() -> list[str]:
    files = (ROOT / "examples" / name for name in ("harbour.txt", "lab-notes.txt"))
    return [word for file in files for word in file.read_text(encoding="utf-8").split()]


def request_body(words: list[str]) -> dict[str, object]:
    """Return a request for all candidates and word scores, like those of the web page."""
    return {"text": " ".join(words), "threshold": 0, "words": True, "offsets": "utf-16"}


def latency_of_one_text(address: str, rounds: int = 20) -> dict[str, float]:
    """Measure the seconds for a text of 500 words, without other requests."""
    body = request_body(example_words()[:LONG_TEXT_WORDS])
    seconds = []
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(rounds + 1):
            started = time.perf_counter()
            client.post("/find", json=body).raise_for_status()
            seconds.append(time.perf_counter() - started)
    return {
        "words": LONG_TEXT_WORDS,
        "median": round(median(seconds[1:]), 4),
        "worst": round(max(seconds), 4),
    }


async def load_test(address: str, duration: float) -> dict[str, object]:
    """Run 50 clients that each send a request as soon as the previous one is answered."""
    words = example_words()
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    memory: list[float] = []
    end = time.perf_counter() + duration

    async def send_requests(client: httpx.AsyncClient, number: int) -> None:
        for turn in count():
            if time.perf_counter() > end:
                return
            start = (number * 37 + turn * WORDS) % (len(words) - WORDS)
            body = request_body(words[start : start + WORDS])
            started = time.perf_counter()
            response = await client.post("/find", json=body)
            latencies.append(time.perf_counter() - started)
            statuses[response.status_code] += 1

    async def watch_memory(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            memory.append(await resident_memory_mb(client))
            await asyncio.sleep(1)

    limits = httpx.Limits(max_connections=CLIENTS + 1)
    async with (
        httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(watch_memory(client))
        for number in range(CLIENTS):
            group.create_task(send_requests(client, number))
    third = max(1, len(memory) // 3)
    percentiles = quantiles(latencies, n=100)
    return {
        "clients": CLIENTS,
        "words": WORDS,
        "seconds": duration,
        "requests": len(latencies),
        "per_second": round(len(latencies) / duration, 1),
        "statuses": dict(statuses),
        "median": round(percentiles[49], 4),
        "p95": round(percentiles[94], 4),
        "p99": round(percentiles[98], 4),
        "memory_first_third_mb": round(mean(memory[:third]), 1),
        "memory_last_third_mb": round(mean(memory[-third:]), 1),
    }


async def burst_test(address: str) -> dict[str, object]:
    """Send 200 requests at once, more than the queue holds, and one afterwards."""
    body = request_body(example_words()[:WORDS])
    limits = httpx.Limits(max_connections=BURST)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        responses = await asyncio.gather(*(client.post("/find", json=body) for _ in range(BURST)))
        after = await client.post("/find", json=body)
    statuses = Counter(response.status_code for response in responses)
    return {"at_once": BURST, "statuses": dict(statuses), "afterwards": after.status_code}


async def resident_memory_mb(client: httpx.AsyncClient) -> float:
    """Return the resident memory of the server in MB."""
    metrics = (await client.get("/metrics")).text
    found = re.search(r"^process_resident_memory_bytes (\S+)$", metrics, re.MULTILINE)
    assert found is not None
    return float(found[1]) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with running_server() as address:
        one_text = latency_of_one_text(address)
        asyncio.run(load_test(address, options.seconds / 6))  # until the memory is stable
        measured = {
            "cores": len(os.sched_getaffinity(0)),
            "one_text": one_text,
            "load": asyncio.run(load_test(address, options.seconds)),
            "overfilled": asyncio.run(burst_test(address)),
        }
    RESULT.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
