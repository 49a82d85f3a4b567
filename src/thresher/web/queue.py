"""Concurrent requests, one piece of work at a time; when too many wait, the next is refused."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.bulk.memory import FreedMemory
from thresher.web.scored_text import ReadText, read_all

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

TOGETHER = 8_000  # characters of waiting requests that are read in one go


class QueueFullError(Exception):
    """As many requests wait as may."""


@dataclass(eq=False)
class _Job:
    finder: "EntityFinder"
    texts: Sequence[str]
    read: list[ReadText] | None = field(default=None)

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))


class ReadingQueue:
    """Reads texts in a thread of its own. Whoever comes first reads for those behind, too.

    most: how many requests may be here at once, those that are being read included
    """

    def __init__(self, *, most: int) -> None:
        self.most = most
        self._jobs: list[_Job] = []
        self._turn = asyncio.Lock()
        # Always the same thread: each that uses torch keeps some hundred megabytes to itself.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._freed = FreedMemory()

    def __len__(self) -> int:
        return len(self._jobs)

    async def read(self, finder: "EntityFinder", texts: Sequence[str]) -> list[ReadText]:
        """What `read_all` gives, once it is this request's turn."""
        if len(self._jobs) >= self.most:
            raise QueueFullError
        job = _Job(finder, texts)
        self._jobs.append(job)
        try:
            async with self._turn:
                if job.read is None:
                    await self._read_first(list(self._with(job)))
        finally:
            self._jobs.remove(job)
        assert job.read is not None
        return job.read

    def _with(self, first: _Job) -> Iterator[_Job]:
        """This job, and those behind it for the same model, while they are small."""
        size = 0
        for job in self._jobs[self._jobs.index(first) :]:
            if job.read is None and job.finder is first.finder:
                size += job.size
                if job is not first and size > TOGETHER:
                    return
                yield job

    async def _read_first(self, jobs: Sequence[_Job]) -> None:
        """The first of the jobs, and the others with it unless one of them cannot be read."""
        try:
            await self._read_together(jobs)
        except Exception:
            if len(jobs) == 1:
                raise
            await self._read_together(jobs[:1])

    async def _read_together(self, jobs: Sequence[_Job]) -> None:
        texts = [text for job in jobs for text in job.texts]
        loop = asyncio.get_running_loop()
        read = iter(await loop.run_in_executor(self._reader, self._read, jobs[0].finder, texts))
        for job in jobs:
            job.read = [next(read) for _ in job.texts]

    def _read(self, finder: "EntityFinder", texts: Sequence[str]) -> list[ReadText]:
        read = read_all(finder, texts)
        self._freed.give_back()
        return read
