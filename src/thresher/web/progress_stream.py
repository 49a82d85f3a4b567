"""Stream the progress of a long request as lines of JSON; the last line is the response itself."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.requests import ClientDisconnect

from thresher.web.error_handlers import INTERNAL_ERROR

MEDIA_TYPE = "application/x-ndjson"

_Report = Callable[[float], None]


async def progress_response(
    work: Callable[[_Report], Coroutine[Any, Any, bytes]],
) -> StreamingResponse:
    """Return a response with a line `{"progress": 0.25}` for each report, and the result of `work`.

    Nothing is sent before the first report, so that a request that is refused gets a status and a
    reason like any other. An error after that is a line `{"detail": …}`.

    work: receives a function to report the fraction that is done; returns JSON without line breaks
    """
    reports: asyncio.Queue[float | None] = asyncio.Queue()
    working = asyncio.create_task(work(reports.put_nowait))
    working.add_done_callback(lambda _: reports.put_nowait(None))
    first = await reports.get()
    if first is None:
        working.result()  # raises the error, if there was one
    return StreamingResponse(_lines(first, reports, working), media_type=MEDIA_TYPE)


async def _lines(
    report: float | None, reports: asyncio.Queue[float | None], working: asyncio.Task[bytes]
) -> AsyncIterator[bytes]:
    try:
        while report is not None:
            yield to_json({"progress": round(report, 4)}) + b"\n"
            report = await reports.get()
        yield working.result() + b"\n"
    except ClientDisconnect:
        return
    except Exception:
        yield to_json({"detail": INTERNAL_ERROR}) + b"\n"
        raise  # for the log of the server
    finally:
        working.cancel()
