"""No more of a body is kept than was allowed."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE = 20  # times the limit that are read and thrown away, so that the client hears the answer


class BodyLimit:
    """Answers 413 to a body above `most` bytes."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on the request with its whole body, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        seen, more = 0, _announced(scope) <= self.most * PATIENCE
        while more and seen <= self.most * PATIENCE:
            message = await receive()
            if message["type"] != "http.request":  # the client has gone
                return
            part = message.get("body", b"")
            more = message.get("more_body", False)
            seen += len(part)
            if seen <= self.most:
                body += part
        if max(seen, _announced(scope)) > self.most:
            await self._refuse(scope, receive, send)
        else:
            await self.app(scope, _once(bytes(body), receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the body is larger than {self.most:,} bytes, which is all this server takes"
        answer = JSONResponse({"detail": detail}, 413, {"Connection": "close"})
        await answer(scope, receive, send)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _once(body: bytes, receive: Receive) -> Receive:
    """A body that has arrived, then whatever comes."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return whole.pop() if whole else await receive()

    return next_message
