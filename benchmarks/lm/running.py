"""Run rows in several processes; finished rows are skipped, and a failed row stops no other."""

import time
import traceback
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from benchmarks.lm.corpora import Corpus, corpus
from benchmarks.lm.experiments import EXPERIMENTS
from benchmarks.lm.machine import Machine
from benchmarks.lm.rows import RESULTS, Row, path_of, results, write_result
from benchmarks.lm.training import train_row


class Task(NamedTuple):
    """A row with one seed."""

    experiment: str
    name: str
    row: Row
    seed: int


class Plan(NamedTuple):
    """The rows to run.

    only: names of rows, all if empty
    trial: use tiny models and texts, to check that everything runs
    """

    experiments: tuple[str, ...]
    seeds: tuple[int, ...]
    only: tuple[str, ...] = ()
    trial: bool = False
    folder: Path = RESULTS

    def tasks(self) -> list[Task]:
        """Return the rows that are still to do; more may follow from their results.

        Experiments are in the given order; within one, the first seed of all rows comes first.
        """
        return [
            task
            for name in self.experiments
            for task in sorted(self._tasks(name), key=lambda task: self.seeds.index(task.seed))
        ]

    def _tasks(self, experiment: str) -> Iterable[Task]:
        rows = EXPERIMENTS[experiment]
        first = {
            name: seeds[0] for name, seeds in results(experiment, self.folder).items() if 0 in seeds
        }
        for name, row in (rows.rows | rows.chosen(first)).items():
            if self.only and name not in self.only:
                continue
            for seed in self.seeds:
                done = path_of(experiment, name, seed, self.folder).exists()
                if seed in row.seeds and not done:
                    yield Task(experiment, name, _tiny(row) if self.trial else row, seed)


def _tiny(row: Row) -> Row:
    shape = dict(row.shape) | {"layers": 2, "width": 32, "heads": 2, "context": 32}
    settings = dict(row.settings) | {"steps": 4, "batch": 2, "evaluate_every": 2}
    return replace(row, shape=shape, settings=settings)


def run(plan: Plan, machine: Machine, *, jobs: int, seconds: float, threads: int) -> None:
    """Run the plan in `jobs` processes; start no further row after `seconds`."""
    deadline = time.monotonic() + seconds
    started: set[tuple[str, str, int]] = set()
    running: dict[Future[str], Task] = {}
    with ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_prepare, initargs=(machine, threads)
    ) as pool:
        while True:
            for task in plan.tasks():
                key = task.experiment, task.name, task.seed
                if len(running) == jobs or time.monotonic() > deadline:
                    break
                if key not in started:
                    started.add(key)
                    running[pool.submit(_run_task, task, machine, plan)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                del running[future]
                print(future.result(), flush=True)


def _prepare(machine: Machine, threads: int) -> None:
    machine.prepare(threads=threads)


@cache
def _corpus(name: str) -> Corpus:
    return corpus(name)


def _run_task(task: Task, machine: Machine, plan: Plan) -> str:
    started = time.perf_counter()
    title = f"{task.experiment}: {task.name}, seed {task.seed}"
    try:
        text = _corpus(task.row.corpus)
        found = train_row(task.row, text.short() if plan.trial else text, task.seed, machine)
    except Exception:  # the other rows continue
        return f"{title}: FAILED\n{traceback.format_exc()}"
    about = {"experiment": task.experiment, "row": task.name, "seed": task.seed}
    seconds = time.perf_counter() - started
    write_result(about | {"machine": machine.about(), "seconds": seconds} | found, plan.folder)
    tests = "  ".join(f"{name} {each['loss']:.4f}" for name, each in found["best"].items())
    return f"{title}: {seconds:.0f} s, best at {found['best_step']}: {tests}"
