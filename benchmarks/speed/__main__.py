"""Measure words per second of the finders, of their parts and of other tools.

    python -m benchmarks.speed                   all rows (minutes)
    python -m benchmarks.speed distilled spaCy   some rows
    python -m benchmarks.speed.growth            find, fit and lm train by the size of the text
    python -m benchmarks.speed.bulk              a million sentences, --workers 2 and --engine ray

Each row runs in a process of its own with one thread and writes a JSON file. Times are CPU times,
on which other programs have little influence; compare only rows of one run.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.speed.rows import RESULTS, ROWS, Sample

SENTENCES = 300  # per report split


def measure(name: str, sentences: int, rounds: int) -> dict[str, Any]:
    """Measure one row: the fastest of several rounds over the sample, after a warm-up."""
    import torch  # noqa: PLC0415 (the number of threads is set before its first computation)

    torch.set_num_threads(1)
    sample = Sample.of_report(sentences)
    row = ROWS[name](sample)
    words = sample.words
    row.work(sample.sentences[:50])
    seconds = min(_seconds(lambda: row.work(sample.sentences)) for _ in range(rounds))
    return {
        "row": name,
        "words": words,
        "words_per_second": round(words / seconds),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 2),
        **row.about(),
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="per report split")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--here", action="store_true", help="measure one row in this process")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"unknown row {', '.join(unknown)}; choose from {', '.join(ROWS)}")
    if options.here:
        print(json.dumps(measure(options.rows[0], options.sentences, options.rounds)))
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in options.rows or ROWS:
        command = [sys.executable, "-m", "benchmarks.speed", name, "--here"]
        arguments = ["--sentences", str(options.sentences), "--rounds", str(options.rounds)]
        done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        (RESULTS / f"{name.replace(' ', '-')}.json").write_text(
            json.dumps(row, indent=1) + "\n", encoding="utf-8"
        )
        print(f"{name:<22}{row['words_per_second']:>10,} words per second", flush=True)


if __name__ == "__main__":
    main()
