"""Measure `thresher serve`: the latency of one text, 50 clients, a full queue, hostile clients.

    python -m benchmarks.serve                      one minute of load
    python -m benchmarks.serve --seconds 10
    python -m benchmarks.serve --only hostile       the other figures are kept

Server and clients share this machine. The clients send the requests of the web page to the built-in
model.
"""

import argparse
import asyncio
import json
import os
import re
import time
from collections import Counter
from itertools import count
from statistics import mean, median, quantiles

import httpx

from benchmarks.serve.hostile import CASES, measure_small_requests, other_clients
from benchmarks.serve.plain_client import PlainClient
from benchmarks.serve.running import (
    WORDS,
    RunningServer,
    example_words,
    request_body,
    running_server,
)
from benchmarks.serve.section import RESULT

CLIENTS, LONG_TEXT_WORDS, BURST = 50, 500, 200


def latency_of_one_text(address: str, words: int, rounds: int = 20) -> dict[str, float]:
    """Measure the seconds for a text of so many words, without other requests."""
    body = request_body(example_words()[:words])
    seconds = []
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(rounds + 1):
            started = time.perf_counter()
            client.post("/find", json=body).raise_for_status()
            seconds.append(time.perf_counter() - started)
    return {
        "words": words,
        "median": round(median(seconds[1:]), 4),
        "worst": round(max(seconds), 4),
    }


async def load_test(address: str, duration: float) -> dict[str, object]:
    """Run 50 clients that each send a request as soon as the previous one is answered.

    They share one process and use `PlainClient`, which takes little CPU time.
    """
    words = example_words()
    statuses: Counter[int] = Counter()
    latencies: list[float] = []
    memory: list[float] = []
    end = time.perf_counter() + duration

    async def send_requests(number: int) -> None:
        client = await PlainClient.connect(address)
        for turn in count():
            if time.perf_counter() > end:
                return await client.close()
            start = (number * 37 + turn * WORDS) % (len(words) - WORDS)
            body = json.dumps(request_body(words[start : start + WORDS])).encode()
            started = time.perf_counter()
            statuses[await client.post("/find", body)] += 1
            latencies.append(time.perf_counter() - started)

    async def watch_memory(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            memory.append(await resident_memory_mb(client))
            await asyncio.sleep(1)

    async with (
        httpx.AsyncClient(base_url=address, timeout=60) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(watch_memory(client))
        for number in range(CLIENTS):
            group.create_task(send_requests(number))
    about = {"clients": CLIENTS, "words": WORDS, "seconds": duration, "statuses": dict(statuses)}
    return about | _load_figures(latencies, memory, duration)


def _load_figures(
    latencies: list[float], memory: list[float], duration: float
) -> dict[str, object]:
    third = max(1, len(memory) // 3)
    percentiles = quantiles(latencies, n=100)
    return {
        "requests": len(latencies),
        "per_second": round(len(latencies) / duration, 1),
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


def hostile_tests(server: RunningServer, seconds: float) -> dict[str, object]:
    """Measure small requests next to each kind of hostile clients."""
    results: dict[str, object] = {}
    for case in CASES:
        with other_clients(server, case):
            results[case] = asyncio.run(measure_small_requests(server, seconds))
        print(case, results[case], flush=True)
    return {"words": WORDS, "seconds": seconds, "cases": results}


def usual_tests(server: RunningServer, seconds: float) -> dict[str, object]:
    """Measure single requests, 50 clients, and a full queue."""
    address = server.address
    latency_of_one_text(address, WORDS)  # until everything is loaded
    return {
        "cores": len(os.sched_getaffinity(0)),
        "small_text": latency_of_one_text(address, WORDS, rounds=100),
        "one_text": latency_of_one_text(address, LONG_TEXT_WORDS),
        "warm_up": asyncio.run(load_test(address, seconds / 6)),  # until the memory is stable
        "load": asyncio.run(load_test(address, seconds)),
        "overfilled": asyncio.run(burst_test(address)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=["usual", "hostile"])
    options = parser.parse_args()
    old = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    measured: dict[str, object] = {} if options.only is None else old
    with running_server() as server:
        if options.only != "hostile":
            measured |= usual_tests(server, options.seconds)
            measured.pop("warm_up")
        if options.only != "usual":
            measured["hostile"] = hostile_tests(server, options.seconds / 3)
    RESULT.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
