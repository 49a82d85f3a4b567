"""How `thresher serve` bears up: a text of 500 words, fifty clients at once, a queue overfilled.

    python -m benchmarks.serve              a minute of load
    python -m benchmarks.serve --seconds 10

Server and clients share this machine, the page's own requests are sent, and the built-in model is
asked.
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

from benchmarks.data import ALL_RESULTS, ROOT

RESULT = ALL_RESULTS / "serve.json"
CLIENTS, WORDS, LONG_TEXT, AT_ONCE = 50, 50, 500, 200


@contextmanager
def serving() -> Iterator[str]:
    """A server with its defaults, in a process of its own."""
    command = [sys.executable, "-m", "thresher", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().partition(" ")[0]
        finally:
            server.terminate()


def words() -> list[str]:
    files = (ROOT / "examples" / name for name in ("harbour.txt", "lab-notes.txt"))
    return [word for file in files for word in file.read_text(encoding="utf-8").split()]


def as_the_page_asks(text: str) -> dict[str, object]:
    return {"text": text, "threshold": 0, "words": True, "offsets": "utf-16"}


def one_text(address: str, rounds: int = 20) -> dict[str, float]:
    """Seconds for a text of 500 words, when nobody else asks."""
    body = as_the_page_asks(" ".join(words()[:LONG_TEXT]))
    taken = []
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(rounds + 1):
            started = time.perf_counter()
            client.post("/find", json=body).raise_for_status()
            taken.append(time.perf_counter() - started)
    return {
        "words": LONG_TEXT,
        "median": round(median(taken[1:]), 4),
        "worst": round(max(taken), 4),
    }


async def under_load(address: str, seconds: float) -> dict[str, object]:
    """Fifty clients that ask again as soon as they are answered."""
    every = words()
    statuses: Counter[int] = Counter()
    taken: list[float] = []
    memory: list[float] = []
    end = time.perf_counter() + seconds

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        for turn in count():
            if time.perf_counter() > end:
                return
            start = (number * 37 + turn * WORDS) % (len(every) - WORDS)
            body = as_the_page_asks(" ".join(every[start : start + WORDS]))
            started = time.perf_counter()
            answer = await client.post("/find", json=body)
            taken.append(time.perf_counter() - started)
            statuses[answer.status_code] += 1

    async def watch(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            memory.append(await resident(client))
            await asyncio.sleep(1)

    limits = httpx.Limits(max_connections=CLIENTS + 1)
    async with (
        httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(watch(client))
        for number in range(CLIENTS):
            group.create_task(ask(client, number))
    third = max(1, len(memory) // 3)
    cuts = quantiles(taken, n=100)
    return {
        "clients": CLIENTS,
        "words": WORDS,
        "seconds": seconds,
        "requests": len(taken),
        "per_second": round(len(taken) / seconds, 1),
        "statuses": dict(statuses),
        "median": round(cuts[49], 4),
        "p95": round(cuts[94], 4),
        "p99": round(cuts[98], 4),
        "memory_first_third_mb": round(mean(memory[:third]), 1),
        "memory_last_third_mb": round(mean(memory[-third:]), 1),
    }


async def overfilled(address: str) -> dict[str, object]:
    """Many requests in the same moment: some are refused, and then all is well again."""
    body = as_the_page_asks(" ".join(words()[:WORDS]))
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        answers = await asyncio.gather(*(client.post("/find", json=body) for _ in range(AT_ONCE)))
        after = await client.post("/find", json=body)
    statuses = Counter(answer.status_code for answer in answers)
    return {"at_once": AT_ONCE, "statuses": dict(statuses), "afterwards": after.status_code}


async def resident(client: httpx.AsyncClient) -> float:
    """The server's memory in MB."""
    figures = (await client.get("/metrics")).text
    found = re.search(r"^process_resident_memory_bytes (\d+)$", figures, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with serving() as address:
        alone = one_text(address)
        asyncio.run(under_load(address, options.seconds / 6))  # memory settles in the first seconds
        measured = {
            "cores": len(os.sched_getaffinity(0)),
            "one_text": alone,
            "load": asyncio.run(under_load(address, options.seconds)),
            "overfilled": asyncio.run(overfilled(address)),
        }
    RESULT.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
