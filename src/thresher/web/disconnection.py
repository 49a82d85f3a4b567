"""Stop working for clients that have disconnected."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

Result = TypeVar("Result")


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`; if the client disconnects, cancel it and raise ClientDisconnect.

    The body of the request must have been read.
    """
    working = asyncio.create_task(work)
    disconnected = asyncio.create_task(_wait_for_disconnection(request))
    try:
        await asyncio.wait({working, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        disconnected.cancel()


async def _wait_for_disconnection(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
