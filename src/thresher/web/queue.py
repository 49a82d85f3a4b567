"""A queue in front of the finder: one batch at a time, a limited number of waiting requests."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.bulk.memory import MemoryTrimmer
from thresher.entities.finding.scored_text import ScoredText

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

MAX_BATCH_CHARACTERS = 8_000  # of waiting requests that are processed as one batch


class QueueFullError(Exception):
    """The maximum number of requests is waiting."""


@dataclass(eq=False)
class _Job:
    finder: "EntityFinder"
    texts: Sequence[str]
    result: list[ScoredText] | None = None

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


class ScoringQueue:
    """Scores texts in a single thread; waiting requests for the same model share a batch.

    max_requests: the number of requests in the queue, including those being processed
    """

    def __init__(self, *, max_requests: int) -> None:
        self.max_requests = max_requests
        self._jobs: list[_Job] = []
        self._lock = asyncio.Lock()
        # A single thread, because torch keeps some hundred megabytes for each thread that uses it.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="scoring")
        self._memory = MemoryTrimmer()

    def __len__(self) -> int:
        return len(self._jobs)

    async def score(self, finder: "EntityFinder", texts: Sequence[str]) -> list[ScoredText]:
        """Wait for this request's turn and score its texts.

        The request that gets the lock also processes small requests behind it, so a request may
        already have its result when it gets the lock.
        """
        if len(self._jobs) >= self.max_requests:
            raise QueueFullError
        job = _Job(finder, texts)
        self._jobs.append(job)
        try:
            async with self._lock:
                if job.result is None:
                    await self._process(list(self._batch(job)))
        finally:
            self._jobs.remove(job)
        assert job.result is not None
        return job.result

    def _batch(self, first: _Job) -> Iterator[_Job]:
        """Yield `first` and the jobs behind it for the same model, up to the batch limit."""
        characters = 0
        for job in self._jobs[self._jobs.index(first) :]:
            if job.result is None and job.finder is first.finder:
                characters += job.characters
                if job is not first and characters > MAX_BATCH_CHARACTERS:
                    return
                yield job

    async def _process(self, jobs: Sequence[_Job]) -> None:
        """Process the jobs as one batch; if that fails, only the first one."""
        try:
            await self._process_batch(jobs)
        except Exception:
            if len(jobs) == 1:
                raise
            await self._process_batch(jobs[:1])

    async def _process_batch(self, jobs: Sequence[_Job]) -> None:
        texts = [text for job in jobs for text in job.texts]
        loop = asyncio.get_running_loop()
        scored = await loop.run_in_executor(self._executor, self._score, jobs[0].finder, texts)
        results = iter(scored)
        for job in jobs:
            job.result = [next(results) for _ in job.texts]

    def _score(self, finder: "EntityFinder", texts: Sequence[str]) -> list[ScoredText]:
        scored = list(finder.score_texts(texts))
        self._memory.trim()
        return scored
