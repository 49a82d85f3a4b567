"""An asynchronous client of `thresher serve`."""

import logging
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from thresher.entities.finding.found_spans import FoundSpans
from thresher.errors import InputError, WorkerError, requires_extra
from thresher.text.annotations import Span

_LOGGER = logging.getLogger("thresher")


class AsyncClient:
    """Finds entities with a server that runs elsewhere.

    address: the address of the server   token: its access token, if it needs one
    timeout: seconds to wait for an answer

    >>> async with AsyncClient("http://127.0.0.1:8000") as client:
    ...     await client.find("Marie Curie moved to Paris.")
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        transport: Any = None,
    ) -> None:
        with requires_extra("client", "the client needs httpx"):
            import httpx  # noqa: PLC0415 (an extra)

        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(
            base_url=address, headers=headers, timeout=timeout, transport=transport
        )
        self._error = httpx.HTTPError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def find(
        self, text: str, *, model: str | None = None, threshold: float | None = None
    ) -> FoundSpans:
        """Return the entities of a text."""
        (found,) = await self.find_all([text], model=model, threshold=threshold)
        return found

    async def find_all(
        self, texts: Sequence[str], *, model: str | None = None, threshold: float | None = None
    ) -> list[FoundSpans]:
        """Return the entities of each text; a server accepts up to 1000 texts at a time.

        Texts that the model cannot read are reported to the logger `thresher`.
        """
        options = {"model": model, "threshold": threshold}
        request = {"texts": list(texts)} | {k: v for k, v in options.items() if v is not None}
        answer = await self._request("POST", "/find", json=request)
        for number, result in enumerate(answer["results"]):
            if note := result.get("note"):
                _LOGGER.warning("text %d: %s", number, note)
        return [
            FoundSpans(text, [_span(each) for each in result["spans"]])
            for text, result in zip(texts, answer["results"], strict=True)
        ]

    async def models(self) -> list[str]:
        """Return the names of the server's models, the default one first."""
        answer = await self._request("GET", "/models")
        return [each["name"] for each in answer["models"]]

    async def _request(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = await self._http.request(method, path, **options)
        except self._error as error:
            reason = str(error) or type(error).__name__
            raise WorkerError(f"cannot reach {self._http.base_url}: {reason}") from error
        _LOGGER.debug("%s %s: status %d", method, path, response.status_code)
        if response.is_success:
            return response.json()
        try:
            detail = response.json()["detail"]
        except (ValueError, KeyError, TypeError):
            detail = response.reason_phrase
        kind = InputError if response.status_code < 500 else WorkerError
        raise kind(f"the server answered {response.status_code}: {detail}")


def _span(values: dict[str, Any]) -> Span:
    known = {name: values[name] for name in ("start", "end", "text", "score")}
    return Span(**known, kind=values.get("kind"))
