"""Finders for the kinds of a request: the examples of the latest requests are kept."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from thresher.web.queue import QueueFullError

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.web.queue import ScoringQueue

MAX_KEPT = 16  # finders with kinds; they share the encoder and its weights
MAX_WAITING = 8  # requests of one client that wait until their kinds are learned

_Key = tuple[int, tuple[tuple[str, tuple[str, ...]], ...]]
_Kinds = Mapping[str, Sequence[str]]


class KindFinders:
    """Makes finders that know the kinds of a request; the same kinds give the same finder.

    Learning kinds takes up to some seconds, so the kinds of one request are learned at a time, and
    clients take turns.

    queue: kinds are learned in its thread
    """

    def __init__(self, queue: "ScoringQueue") -> None:
        self._queue = queue
        self._kept: OrderedDict[_Key, EntityFinder] = OrderedDict()
        self._learning = asyncio.Lock()
        # A client holds its own lock while it waits for the other one, so it waits there only once.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: Counter[str] = Counter()

    async def get(
        self, finder: "EntityFinder", kinds: _Kinds | None, *, client: str = ""
    ) -> "EntityFinder":
        """Return the finder with these kinds; with its own kinds if `kinds` is None.

        If this is cancelled before it is its turn, the kinds are not learned. QueueFullError is
        raised if too many requests of the client are waiting.
        """
        if kinds is None:
            return finder
        key = (id(finder), tuple((kind, tuple(names)) for kind, names in kinds.items()))
        if key not in self._kept:
            async with self._turn_of(client):
                if key not in self._kept:
                    self._keep(key, await self._learn(finder, kinds))
        self._kept.move_to_end(key)
        return self._kept[key]

    @asynccontextmanager
    async def _turn_of(self, client: str) -> AsyncIterator[None]:
        """Wait until it is the turn of a request of this client, which ends with the block."""
        if self._waiting[client] >= MAX_WAITING:
            raise QueueFullError
        self._waiting[client] += 1
        try:
            turn = self._turns.setdefault(client, asyncio.Lock())
            async with turn, self._learning:
                yield
        finally:
            self._waiting[client] -= 1
            self._waiting += Counter()  # removes clients of which no request is waiting

    def _keep(self, key: _Key, finder: "EntityFinder") -> None:
        self._kept[key] = finder
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)

    async def _learn(self, finder: "EntityFinder", kinds: _Kinds) -> "EntityFinder":
        examples = dict(kinds) or None  # no kinds at all: an untyped finder
        learning = asyncio.ensure_future(self._queue.run(lambda: finder.with_kinds(examples)))
        try:
            return await asyncio.shield(learning)
        except asyncio.CancelledError:  # the thread cannot be stopped; others wait until it is done
            await asyncio.gather(learning, return_exceptions=True)
            raise
