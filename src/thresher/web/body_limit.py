"""Middleware that limits the size of request bodies."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A client that is still sending does not read the response, so bodies up to this many times the
# limit are received and discarded before the response is sent.
DISCARD_FACTOR = 20


class BodyLimit:
    """Middleware that answers 413 to requests whose body is larger than `max_bytes`."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the whole body and call the application, or answer 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        max_discarded = self.max_bytes * DISCARD_FACTOR
        received, more = 0, _content_length(scope) <= max_discarded
        while more and received <= max_discarded:
            message = await receive()
            if message["type"] != "http.request":  # the client has disconnected
                return
            part = message.get("body", b"")
            more = message.get("more_body", False)
            received += len(part)
            if received <= self.max_bytes:
                body += part
        if max(received, _content_length(scope)) > self.max_bytes:
            await self._respond_too_large(scope, receive, send)
        else:
            await self.app(scope, _receive_body(bytes(body), receive), send)

    async def _respond_too_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request body is larger than {self.max_bytes:,} bytes, this server's limit"
        response = JSONResponse({"detail": detail}, 413, {"Connection": "close"})
        await response(scope, receive, send)


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
