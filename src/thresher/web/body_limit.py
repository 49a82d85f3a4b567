"""Middleware that limits the size of request bodies."""

import json

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A client that is still sending may not read the response before it has sent everything, so up to
# this many times the limit are received and discarded after the response.
DISCARD_FACTOR = 20


class UnambiguousLength:
    """Middleware that answers 400 to a request with both a length and chunks.

    A proxy and this server could see its end in different places; what follows would be a request
    that the proxy has not checked.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, or answer 400 and close the connection."""
        if scope["type"] == "http" and {"content-length", "transfer-encoding"} <= set(
            Headers(scope=scope).keys()
        ):
            detail = "a request must have Content-Length or Transfer-Encoding, not both"
            response = JSONResponse({"detail": detail}, 400, {"Connection": "close"})
            await response(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class BodyLimit:
    """Middleware that answers 413 to requests whose body is larger than `max_bytes`."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the whole body and call the application, or answer 413.

        If the header announces too large a body, the response is sent before anything is received,
        otherwise as soon as the limit is passed.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        more = True
        while more and len(body) <= self.max_bytes >= _content_length(scope):
            message = await receive()
            if message["type"] != "http.request":  # the client has disconnected
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if max(len(body), _content_length(scope)) > self.max_bytes:
            more = more and _content_length(scope) <= self.max_bytes * DISCARD_FACTOR
            await self._respond_too_large(receive, send, more=more)
        else:
            await self.app(scope, _receive_body(bytes(body), receive), send)

    async def _respond_too_large(self, receive: Receive, send: Send, *, more: bool) -> None:
        """Send the response, discard some of the rest of the body, and close the connection."""
        detail = f"the request body is larger than {self.max_bytes:,} bytes, this server's limit"
        content = json.dumps({"detail": detail}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": True})
        discarded = 0
        while more and discarded <= self.max_bytes * DISCARD_FACTOR:
            message = await receive()
            discarded += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
        await send({"type": "http.response.body", "body": b""})


def _content_length(scope: Scope) -> int:
    """Return the announced length of the body, 0 if it is unknown."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _receive_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the whole body first and then the later messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
