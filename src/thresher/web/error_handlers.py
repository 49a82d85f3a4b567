"""Whatever is refused, one line says why; nothing of what was sent is sent back."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from thresher.errors import InputError
from thresher.web.queue import QueueFullError
from thresher.web.schema import Problem

REFUSALS: dict[int | str, dict[str, Any]] = {
    413: {"model": Problem, "description": "The body is too large"},
    422: {"model": Problem, "description": "The request cannot be read"},
    503: {"model": Problem, "description": "Too many requests wait; try again"},
}

_NOT_JSON = "the body is not JSON in UTF-8"


def add_refusals(app: FastAPI) -> None:
    """Let an application answer these errors with a status and one line."""

    @app.exception_handler(RequestValidationError)
    async def not_as_described(request: Request, error: RequestValidationError) -> JSONResponse:
        if "json" not in request.headers.get("Content-Type", ""):
            return _refusal(422, "the body must be JSON, with Content-Type: application/json")
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return _refusal(422, _NOT_JSON)
        reason = first["msg"].removeprefix("Value error, ")
        return _refusal(422, f"{_place(first['loc'])}: {reason}")

    @app.exception_handler(HTTPException)
    async def not_json(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # how FastAPI calls what is neither JSON nor UTF-8
            return _refusal(422, _NOT_JSON)
        return _refusal(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(InputError)
    async def not_usable(request: Request, error: InputError) -> JSONResponse:
        return _refusal(422, str(error))

    @app.exception_handler(QueueFullError)
    async def too_many(request: Request, error: QueueFullError) -> JSONResponse:
        detail = "too many requests wait; try again in a moment"
        return _refusal(503, detail, {"Retry-After": "1"})


def _place(location: Sequence[int | str]) -> str:
    """Where in the body; FastAPI and the two kinds of request add words of their own."""
    parts = [str(part) for part in location if part not in {"body", "one", "several"}]
    return ".".join(parts) or "the body"


def _refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)
