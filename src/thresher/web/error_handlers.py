"""Convert errors to responses with a status and a one-line reason.

A reason contains nothing of the request but the names of fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from thresher.errors import InputError
from thresher.web.access import NO_SNIFF
from thresher.web.metrics import CLIENT_CLOSED_REQUEST
from thresher.web.queue import QueueFullError
from thresher.web.schema import MAX_NAME, ErrorResponse

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "The header Host is not allowed"},
    401: {"model": ErrorResponse, "description": "The access token is missing or wrong"},
    413: {"model": ErrorResponse, "description": "The request body is too large"},
    422: {"model": ErrorResponse, "description": "The request is invalid"},
    503: {"model": ErrorResponse, "description": "Too many requests are waiting; try again"},
}

INTERNAL_ERROR = "internal error; the log of the server says more"
_NOT_JSON = "the body is not JSON in UTF-8"


def add_error_handlers(app: FastAPI) -> None:
    """Let an application answer errors with a status and a one-line reason."""

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        if "json" not in request.headers.get("Content-Type", ""):
            return _error(422, "the body must be JSON, with Content-Type: application/json")
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return _error(422, _NOT_JSON)
        reason = first["msg"].removeprefix("Value error, ")
        return _error(422, f"{_field_name(first['loc'])}: {reason}")

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # FastAPI's status for a body that is not JSON or not UTF-8
            return _error(422, _NOT_JSON)
        return _error(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(InputError)
    async def invalid_input(request: Request, error: InputError) -> JSONResponse:
        return _error(422, str(error))

    @app.exception_handler(QueueFullError)
    async def queue_full(request: Request, error: QueueFullError) -> JSONResponse:
        detail = "too many requests are waiting; try again in a moment"
        return _error(503, detail, {"Retry-After": "1"})

    @app.exception_handler(ClientDisconnect)
    async def disconnected(request: Request, error: ClientDisconnect) -> JSONResponse:
        return _error(CLIENT_CLOSED_REQUEST, "the client has disconnected")  # for the metrics

    @app.exception_handler(Exception)
    async def internal_error(request: Request, error: Exception) -> JSONResponse:
        # This response does not pass the middleware. The error itself is logged by the server.
        return _error(500, INTERNAL_ERROR, NO_SNIFF)


def _field_name(location: Sequence[int | str]) -> str:
    """Return the field of the body, without the parts that FastAPI and the discriminator add."""
    parts = [str(part)[:MAX_NAME] for part in location if part not in {"body", "one", "several"}]
    return ".".join(parts) or "the body"


def _error(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)
