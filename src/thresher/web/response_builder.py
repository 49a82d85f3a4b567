"""Build responses without blocking the event loop for long."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from thresher.web.scoring_steps import STEP_CHARACTERS

Content = TypeVar("Content", str, bytes)


class ResponseBuilder:
    """Builds small responses at once, and large ones one after the other in a thread."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="responses")

    async def build(self, build: Callable[[], Content], *, texts: Sequence[str]) -> Content:
        """Return what `build` returns; texts: those of the response, which decide on its size."""
        if sum(map(len, texts)) <= STEP_CHARACTERS:
            return build()
        return await asyncio.get_running_loop().run_in_executor(self._executor, build)
