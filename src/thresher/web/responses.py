"""Build the responses of the API without blocking the event loop for long.

The progress of a long request can be streamed, and work stops when its client disconnects.

The objects have the fields of `TextResult` and its parts in `schema.py`, which describe the API.
They are plain dictionaries: a long text has some 100,000 words, and a pydantic model for each of
them takes five times as long.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request

from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finding.scored_text import ScoredText
from thresher.text.formats.jsonl import SCORE_DIGITS, span_object
from thresher.text.records import JsonObject
from thresher.text.utf16 import utf16_offsets
from thresher.web.error_handlers import INTERNAL_ERROR
from thresher.web.scoring_steps import STEP_CHARACTERS

Content = TypeVar("Content", str, bytes)
STREAM_TYPE = "application/x-ndjson"
_Report = Callable[[float], None]
Result = TypeVar("Result")


class ResponseBuilder:
    """Builds small responses at once, and large ones one after the other in a thread."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="responses")

    async def build(self, build: Callable[[], Content], *, texts: Sequence[str]) -> Content:
        """Return what `build` returns; texts: those of the response, which decide on its size."""
        if sum(map(len, texts)) <= STEP_CHARACTERS:
            return build()
        return await asyncio.get_running_loop().run_in_executor(self._executor, build)


def text_result(
    scored: ScoredText,
    *,
    threshold: float,
    only: Collection[str | None] | None = None,
    offset_unit: str,
    with_words: bool,
    unreadable: str | None = None,
) -> JsonObject:
    """Return the entities of a text, and the scores of its words if `with_words`.

    only: the kinds of entities to return; None for all
    offset_unit: "characters" or "utf-16"
    unreadable: why the model cannot read the text, from `EntityFinder.unreadable`
    """
    text = scored.text
    offsets = utf16_offsets(text) if offset_unit == "utf-16" else range(len(text) + 1)
    result: JsonObject = {
        "spans": [
            span_object(span) | {"start": offsets[span.start], "end": offsets[span.end]}
            for span in scored.spans(threshold, only)
        ]
    }
    if with_words:
        result["sentences"] = _sentences(scored, offsets)
    if unreadable is not None:
        result["note"] = unreadable.replace(f"`model={MULTILINGUAL}`", f"the model {MULTILINGUAL}")
    return result


def _sentences(scored: ScoredText, offsets: Sequence[int]) -> list[JsonObject]:
    return [
        {
            "start": offsets[sentence.start],
            "end": offsets[sentence.end],
            "words": [
                {"start": offsets[start], "end": offsets[start + len(word)], "score": score}
                for word, start, score in zip(
                    sentence.texts,
                    sentence.starts,
                    np.round(each.scores.astype(np.float64), SCORE_DIGITS).tolist(),
                    strict=True,
                )
            ],
        }
        for sentence, each in zip(scored.sentences, scored.scored_sentences, strict=True)
    ]


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
    return StreamingResponse(_lines(first, reports, working), media_type=STREAM_TYPE)


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
