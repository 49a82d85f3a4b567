"""Finders for the kinds of a request: the examples of the latest requests are kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.web.queue import ScoringQueue

MAX_KEPT = 16  # finders with kinds; they share the encoder and its weights

_Key = tuple[int, tuple[tuple[str, tuple[str, ...]], ...]]


class KindFinders:
    """Makes finders that know the kinds of a request; the same kinds give the same finder.

    queue: kinds are learned in its thread
    """

    def __init__(self, queue: "ScoringQueue") -> None:
        self._queue = queue
        self._kept: OrderedDict[_Key, EntityFinder] = OrderedDict()
        self._lock = asyncio.Lock()

    async def get(
        self, finder: "EntityFinder", kinds: Mapping[str, Sequence[str]] | None
    ) -> "EntityFinder":
        """Return the finder with these kinds; with its own kinds if `kinds` is None."""
        if kinds is None:
            return finder
        key = (id(finder), tuple((kind, tuple(names)) for kind, names in kinds.items()))
        async with self._lock:
            if key not in self._kept:
                examples = dict(kinds) or None  # no kinds at all: an untyped finder
                self._kept[key] = await self._queue.run(lambda: finder.with_kinds(examples))
            self._kept.move_to_end(key)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]
