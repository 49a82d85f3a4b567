"""Measure entities in five languages, each with an encoder trained on raw text of the language.

    python -m benchmarks.languages [--only standard margin-4] [--languages amh] [--seeds 0 1 2]
                                   [--processes 12]

An encoder is trained once for all rows that use it. Every row, language and seed is written to a
JSON file under benchmarks/results/languages as soon as it has been measured; existing files are
not measured again, unless they are marked as provisional.

Processes that share a GPU take turns on it. With NVIDIA's multi-process service they run
concurrently, and three of them are 1.5 times as fast (2.1 million tokens per second):
nvidia-cuda-mps-control -d
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.languages.data import LANGUAGES
from benchmarks.languages.job import Job
from benchmarks.languages.rows import ROWS


def jobs(rows: Sequence[str], languages: Sequence[str], seeds: Sequence[int]) -> Iterator[Job]:
    """Yield the unfinished jobs, the first seed of all rows and languages first."""
    for seed in seeds:
        for encoder in dict.fromkeys(ROWS[row].encoder for row in rows):
            for language in languages:
                with_encoder = tuple(
                    row
                    for row in rows
                    if ROWS[row].encoder == encoder and language in ROWS[row].languages
                )
                job = Job(encoder, language, seed, with_encoder)
                if (encoder is not None or seed == seeds[0]) and job.missing():
                    yield job


def run_in_process(job: Job) -> None:
    """Run a job in a process of its own, so that several jobs can share a GPU."""
    command = [sys.executable, "-m", "benchmarks.languages", "--languages", job.language]
    subprocess.run([*command, "--seeds", str(job.seed), "--only", *job.rows], check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--languages", nargs="*", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    todo = list(jobs(options.only, options.languages, options.seeds))
    run = Job.run if options.processes == 1 else run_in_process
    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(run, todo))


if __name__ == "__main__":
    main()
