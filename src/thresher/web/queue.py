"""A queue in front of the finder: one batch at a time, a limited number of waiting requests."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from thresher.bulk.memory import MemoryTrimmer
from thresher.entities.finding.scored_text import ScoredText
from thresher.web.schedule import Job, Schedule, job_to_refuse
from thresher.web.scoring_steps import scoring_steps

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

T = TypeVar("T")
_Outcome = list[ScoredText] | Exception | None


class QueueFullError(Exception):
    """The maximum number of requests is waiting."""


class ScoringQueue:
    """Scores texts in a single thread; `Schedule` decides in which order.

    max_requests: the number of requests in the queue, including those being processed
    """

    def __init__(self, *, max_requests: int) -> None:
        self.max_requests = max_requests
        self._jobs: list[Job] = []
        self._schedule = Schedule()
        self._worker: asyncio.Task[None] | None = None
        # A single thread, because torch keeps some hundred megabytes for each thread that uses it.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="scoring")
        self._memory = MemoryTrimmer()

    def __len__(self) -> int:
        return len(self._jobs)

    async def score(
        self,
        finder: "EntityFinder",
        texts: Sequence[str],
        *,
        client: str = "",
        on_progress: Callable[[float], None] | None = None,
    ) -> list[ScoredText]:
        """Return the scored texts when it is their turn.

        If this is cancelled, the texts are not processed any further.

        on_progress: is called with the fraction that is done, after each step of a large request
        """
        result = asyncio.get_running_loop().create_future()
        job = Job(finder, texts, client, result, on_progress=on_progress)
        if len(self._jobs) >= self.max_requests:
            refused = job_to_refuse(self._jobs, job)
            if refused is job:
                raise QueueFullError
            self._jobs.remove(refused)
            refused.result.set_exception(QueueFullError())
        self._jobs.append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        try:
            return await job.result
        finally:
            if job in self._jobs:
                self._jobs.remove(job)

    async def run(self, function: Callable[[], T]) -> T:
        """Return what a function returns that uses torch, and is run in the thread of the queue."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)

    async def _work(self) -> None:
        """Process batches until no job is left."""
        loop = asyncio.get_running_loop()
        while batch := self._schedule.next_batch(self._jobs):
            outcomes = await loop.run_in_executor(self._executor, _process, batch)
            for job, outcome in zip(batch, outcomes, strict=True):
                if outcome is not None:
                    self._finish(job, outcome)
                elif job.on_progress is not None:
                    job.on_progress(job.progress)
            # In the thread, but after the responses: it takes some milliseconds.
            self._executor.submit(self._memory.trim)

    def _finish(self, job: Job, outcome: list[ScoredText] | Exception) -> None:
        if job.result.done():  # cancelled
            return
        self._jobs.remove(job)
        if isinstance(outcome, Exception):
            job.result.set_exception(outcome)
        else:
            job.result.set_result(outcome)


def _process(batch: Sequence[Job]) -> list[_Outcome]:
    """Return for each job its result, the error it failed with, or None if steps are left."""
    if not batch[0].is_small:
        return [_next_step(batch[0])]
    try:
        scored = iter(list(batch[0].finder.score_texts([t for job in batch for t in job.texts])))
    except Exception as error:
        return [error] if len(batch) == 1 else [_process([job])[0] for job in batch]
    return [list(islice(scored, len(job.texts))) for job in batch]


def _next_step(job: Job) -> _Outcome:
    if job.steps is None:
        job.steps = scoring_steps(job.finder, job.texts)
    try:
        job.progress = next(job.steps)
    except StopIteration as finished:
        scored: list[ScoredText] = finished.value
        return scored
    except Exception as error:
        return error
    return None
