"""Measure the finders as older and newer CPUs run them, next to spaCy's small and medium model.

    python -m benchmarks.speed.processors                       all rows, one and two threads
    python -m benchmarks.speed.processors --sentences 60        a quick look
    python -m benchmarks.speed.processors --quality             span F1 on the whole report splits

`AVX2` limits oneDNN, torch, MKL and OpenBLAS to the instructions of older CPUs; the other rows use
what this CPU has. All processes load first; then they take turns, round by round, so that other
programs on the machine disturb all of them alike. With one thread, words per second of CPU time;
with two, of wall-clock time. The first result: CPU time of `thresher find` with a short text, from
the start of Python to its end, with one thread. All of it takes seven minutes.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.data import REPORT, read_gold
from benchmarks.speed.rows import RESULTS, ROWS, Sample
from thresher.entities.built_in import NAMES
from thresher.entities.finder import EntityFinder

INSTRUCTIONS = {
    "this CPU": {},
    "AVX2": {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
}
OURS = ("default", "small", "distilled", "multilingual", "word vectors", "exact default")
PEERS = ("spaCy", "spaCy md")  # whose matrix products use no instructions beyond AVX2
SENTENCES, ROUNDS = 250, 4
FIRST_FINDS = 7  # runs of each model, of which the fastest counts
_TEXT = "Marie Curie moved to Paris."


def environment(instructions: str) -> dict[str, str]:
    """Return the environment of a process with these instructions; limits set outside are left out.

    Some machines set OPENBLAS_CORETYPE, with which "this CPU" would be an older one.
    """
    limited = {name for limits in INSTRUCTIONS.values() for name in limits}
    outside = {name: value for name, value in os.environ.items() if name not in limited}
    return outside | INSTRUCTIONS[instructions]


@dataclass(frozen=True)
class Contestant:
    """One row with some instructions and a number of threads, in a process of its own."""

    row: str
    instructions: str
    threads: int
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, row: str, instructions: str, threads: int, sentences: int) -> "Contestant":
        count = str(threads)
        limits = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
        process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, "--row", row, "--sentences", str(sentences)],
            env=environment(instructions) | limits,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return cls(row, instructions, threads, process)

    def round(self) -> dict[str, float]:
        """Run the row once; return its seconds of CPU time and of wall-clock time."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]


def contestants(sentences: int, thread_counts: Sequence[int]) -> Iterator[Contestant]:
    """Start all processes, one after the other."""
    for threads in thread_counts:
        for instructions in INSTRUCTIONS:
            for row in (*OURS, *(PEERS if instructions == "this CPU" else ())):
                if row in ROWS:
                    yield Contestant.start(row, instructions, threads, sentences)


def work(row: str, sentences: int) -> None:
    """Load a row, then run it once for every line of standard input."""
    sample = Sample.of_report(sentences)
    run = ROWS[row](sample).work
    run(sample.sentences[:50])
    for _ in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        run(sample.sentences)
        seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        print(json.dumps(seconds | {"words": sample.words}), flush=True)


def measure(sentences: int, rounds: int, thread_counts: Sequence[int]) -> list[dict[str, Any]]:
    """Let all rows take turns; return the speed of each in its fastest round."""
    with ExitStack() as stack:
        running = list(contestants(sentences, thread_counts))
        for each in running:
            stack.callback(each.process.terminate)
        turns = [[each.round() for each in running] for _ in range(rounds)]
    figures = []
    for each, results in zip(running, zip(*turns, strict=True), strict=True):
        clock = "cpu" if each.threads == 1 else "wall"
        speed = results[0]["words"] / min(result[clock] for result in results)
        about = {"row": each.row, "instructions": each.instructions, "threads": each.threads}
        figures.append(about | {"words_per_second": round(speed)})
    return figures


def first_finds() -> dict[str, float]:
    """Return the CPU seconds of `thresher find` with a short text, for each built-in model."""
    limits = environment("this CPU") | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    seconds = {}
    for model in NAMES:
        command = [sys.executable, "-m", "thresher", "find", _TEXT, "--model", model, "--quiet"]
        times = []
        for _ in range(FIRST_FINDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env=limits, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        seconds[model] = round(min(times), 2)
    return seconds


def quality() -> dict[str, Any]:
    """Return the span F1 of the built-in model in this process, and in float32."""
    whole = Sample(read_gold(REPORT))
    finders = [EntityFinder.default(device="cpu", exact=exact) for exact in (False, True)]
    own, exact = (whole.f1(finder.find_words) for finder in finders)
    return {finders[0].precision: own, "float32": exact}


def quality_of_all() -> dict[str, Any]:
    """Return `quality` with each set of instructions, each in a process of its own."""
    results = {}
    for name in INSTRUCTIONS:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, "--quality-here"],
            env=environment(name),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        results[name] = json.loads(done.stdout.splitlines()[-1])
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="per report split")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--row", help="measure one row in this process")
    parser.add_argument("--quality", action="store_true", help="measure span F1, not speed")
    parser.add_argument("--quality-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        return work(options.row, options.sentences)
    if options.quality_here:
        return print(json.dumps(quality()))
    RESULTS.mkdir(parents=True, exist_ok=True)
    if options.quality:
        return _write("processors-quality.json", quality_of_all())
    figures = measure(options.sentences, options.rounds, options.threads)
    _print(figures)
    first = first_finds()
    print("CPU seconds of a first find:", first)
    results = {"sentences": options.sentences, "rows": figures, "first_find": first}
    _write("processors.json", results)


def _print(figures: list[dict[str, Any]]) -> None:
    for each in figures:
        unit = speed_of(figures, "spaCy", each["threads"])
        title = f"{each['row']}, {each['instructions']}, {each['threads']} threads"
        speed = each["words_per_second"]
        print(f"{title:<40}{speed:>10,} words per second, {speed / unit:.2f} × spaCy")


def speed_of(
    figures: list[dict[str, Any]], row: str, threads: int, instructions: str = "this CPU"
) -> int:
    """Return the words per second of one row."""
    wanted = {"row": row, "threads": threads, "instructions": instructions}
    return next(int(each["words_per_second"]) for each in figures if wanted.items() <= each.items())


def _write(name: str, figures: dict[str, Any]) -> None:
    (RESULTS / name).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
