"""Decide which requests are processed next, and which one is refused if too many are waiting.

Requests that need only one step go before larger ones, and clients take turns: the next client is
the one that has used the least of the server since it began to send requests.
"""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.entities.finding.scored_text import ScoredText
from thresher.web.scoring_steps import STEP_CHARACTERS, Steps

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

_TURNS_PER_OLDEST = 4  # one of so many batches starts with the request that has waited longest
_IPV6_PREFIX = 64  # bits; a client that has one IPv6 address has all that begin with these


@dataclass(eq=False)
class Job:
    """The texts of one request.

    client: requests of the same client share its turns
    steps: the generator that scores a large request, once it is started
    progress: the fraction of a large request that is done
    on_progress: is called with `progress` after each step of a large request
    characters_left: an estimate; decreases while a large request is processed
    is_small: whether the request is processed in one step
    """

    finder: "EntityFinder"
    texts: Sequence[str]
    client: str
    result: asyncio.Future[list[ScoredText]]
    steps: Steps | None = None
    progress: float = 0.0
    on_progress: Callable[[float], None] | None = None
    started: bool = False
    characters_left: int = field(init=False)
    is_small: bool = field(init=False)

    def __post_init__(self) -> None:
        self.characters_left = sum(map(len, self.texts))
        self.is_small = self.characters_left <= STEP_CHARACTERS

    @property
    def steps_left(self) -> int:
        """The number of steps of a large request, approximately; 0 for a small one."""
        return self.characters_left // (STEP_CHARACTERS + 1)

    def start_step(self) -> int:
        """Return the number of characters of the next step, before it is processed."""
        self.started = True
        if self.is_small:
            return self.characters_left
        # The number of steps is not known exactly; a large request never counts as a small one.
        self.characters_left = max(self.characters_left - STEP_CHARACTERS, STEP_CHARACTERS + 1)
        return STEP_CHARACTERS


def client_of_address(address: str) -> str:
    """Return the name by which requests of an address are counted."""
    try:
        if ipaddress.ip_address(address).version == 6:
            return str(ipaddress.ip_network(f"{address}/{_IPV6_PREFIX}", strict=False))
    except ValueError:  # not an address, for example in tests
        pass
    return address


class Schedule:
    """Chooses the next batch from the waiting jobs.

    A batch consists of small jobs for the same model, or of one large job, of which a single step
    is processed.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}  # characters by client, of clients with waiting jobs
        self._turn = 0

    def next_batch(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs to process next; `jobs` are in the order of their arrival."""
        if not jobs:
            return []
        self._update_clients(jobs)
        order = sorted(jobs, key=lambda job: (self._used[job.client], job.steps_left))
        # Otherwise many small requests could keep a large one waiting for ever.
        self._turn = (self._turn + 1) % _TURNS_PER_OLDEST
        first = order[0] if self._turn else jobs[0]
        batch = [first]
        if first.is_small:
            batch += self._small_jobs_with(first, order)
        for job in batch:
            self._used[job.client] += job.start_step()
        return batch

    def _small_jobs_with(self, first: Job, order: Sequence[Job]) -> list[Job]:
        """Return further small jobs for the model of `first` that fit into the same batch."""
        batch = []
        room = STEP_CHARACTERS - first.characters_left
        for job in order:
            if job is not first and job.is_small and job.finder is first.finder:
                room -= job.characters_left
                if room < 0:
                    break
                batch.append(job)
        return batch

    def _update_clients(self, jobs: Sequence[Job]) -> None:
        """Forget clients without jobs; new clients start with the least that another one used."""
        clients = {job.client for job in jobs}
        used = {client: self._used[client] for client in clients if client in self._used}
        least = min(used.values(), default=0)
        self._used = {client: used.get(client, least) for client in clients}


def job_to_refuse(jobs: Sequence[Job], new: Job) -> Job:
    """Return the job to refuse when the queue is full: `new`, or one that has not been started.

    It is the largest one of the client that has the most text waiting; in case of doubt `new`.
    """
    waiting: Counter[str] = Counter()
    for job in (*jobs, new):
        waiting[job.client] += 1 + job.steps_left

    def size(job: Job) -> tuple[int, int]:
        return waiting[job.client], job.steps_left

    return max([new, *(job for job in jobs if not job.started)], key=size)
