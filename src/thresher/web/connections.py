"""Limit the number of connections, and the time that each may take to send its request.

uvicorn has a limit on concurrent requests and on the time between two requests of a connection, but
none on connections that send their request slowly or not at all, or do not read the response.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from thresher.web.schedule import client_of_address

MAX_CONNECTIONS = 1000
HEADER_SECONDS = 10.0
BODY_SECONDS = 30.0
RESPONSE_SECONDS = 60.0
IDLE_SECONDS = 75  # many clients close an idle connection after 5 and must do so first
_BEFORE_RESPONSE = {h11.IDLE, h11.SEND_RESPONSE}
_MIN_BYTES_PER_SECOND = 50_000  # of a response


@dataclass(frozen=True)
class ConnectionLimits:
    """The number of connections, and the seconds that the parts of a request may take.

    max_connections: if more are open, the oldest that waits for its client is closed
    header_seconds: the time from the start of a connection, or the first byte of a later request,
        to the end of the headers
    body_seconds: the time from the end of the headers to the end of the body
    response_seconds: the time from the end of the processing until the client has received the
        response; a response of more than 50 kB may take a second longer for each 50 kB
    """

    max_connections: int = MAX_CONNECTIONS
    header_seconds: float = HEADER_SECONDS
    body_seconds: float = BODY_SECONDS
    response_seconds: float = RESPONSE_SECONDS


class Phase(Enum):
    """What a connection waits for."""

    IDLE = "the next request"
    HEADERS = "the rest of the headers"
    BODY = "the rest of the body"
    PROCESSING = "the response of the application"
    RESPONSE = "the client to receive the response"


class OpenConnections:
    """The connections of a server; closes the oldest waiting one if there are too many.

    If several clients have connections, the one with the most loses one.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.count = 0
        # By client, in the order in which they began to wait for it.
        self._waiting: dict[str, dict[LimitedConnection, None]] = {}

    def opened(self, connection: "LimitedConnection") -> None:
        """Count a new connection; it must not be waiting yet."""
        self.count += 1
        if self.count > self.limits.max_connections:
            self._close_oldest(otherwise=connection)

    def closed(self, connection: "LimitedConnection") -> None:
        """Forget a connection."""
        self.count -= 1
        self.set_waiting(connection, waiting=False)

    def set_waiting(self, connection: "LimitedConnection", *, waiting: bool) -> None:
        """Record that a connection waits for its client from now on, or does not wait."""
        own = self._waiting.setdefault(connection.client_key, {})
        own.pop(connection, None)
        if waiting:
            own[connection] = None
        elif not own:
            del self._waiting[connection.client_key]

    def _close_oldest(self, *, otherwise: "LimitedConnection") -> None:
        waiting = max(self._waiting.values(), key=len, default={})
        oldest = next(iter(waiting), otherwise)
        self.set_waiting(oldest, waiting=False)  # it is closed a moment later
        oldest.transport.abort()


class LimitedConnection(H11Protocol):
    """A connection of uvicorn that is closed if its client is too slow."""

    def __init__(self, *arguments: Any, connections: OpenConnections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.client_key = ""
        self._connections = connections
        self._phase = Phase.PROCESSING
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the headers of the first request."""
        super().connection_made(transport)
        self.client_key = client_of_address(self.client[0]) if self.client else ""
        self._connections.opened(self)
        self._enter(Phase.HEADERS)

    def data_received(self, data: bytes) -> None:
        """Process data, and start the time for the next part of the request."""
        super().data_received(data)
        self._update_phase()

    def on_response_complete(self) -> None:
        """Start the time in which the client must receive the response."""
        super().on_response_complete()
        self._update_phase()

    def pause_writing(self) -> None:
        """Start the time in which the client must receive a part of a streamed response."""
        super().pause_writing()
        self._update_phase()

    def resume_writing(self) -> None:
        """Continue after the client has received most of a response."""
        super().resume_writing()
        self._update_phase()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop_timer()
        self._unset_keepalive_if_required()  # uvicorn keeps this timer after an error
        self._connections.closed(self)

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request in the format of all other errors."""
        if self.conn.our_state in _BEFORE_RESPONSE:
            self._respond_and_close(400, "this is not a valid HTTP request")
        else:
            self.transport.close()

    def _update_phase(self) -> None:
        phase = self._current_phase()
        if phase is not self._phase:
            self._enter(phase)

    def _current_phase(self) -> Phase:
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.BODY
        if self.cycle is not None and not self.cycle.response_complete:
            return Phase.RESPONSE if self.flow.write_paused else Phase.PROCESSING
        if self.transport.get_write_buffer_size():
            return Phase.RESPONSE
        new = self.cycle is None or self.conn.trailing_data[0]
        return Phase.HEADERS if new else Phase.IDLE

    def _enter(self, phase: Phase) -> None:
        self._phase = phase
        self._stop_timer()
        if self.transport.is_closing() and phase is not Phase.RESPONSE:
            return
        self._connections.set_waiting(self, waiting=phase is not Phase.PROCESSING)
        limits = self._connections.limits
        seconds = {
            Phase.HEADERS: limits.header_seconds,
            Phase.BODY: limits.body_seconds,
            Phase.RESPONSE: limits.response_seconds
            + self.transport.get_write_buffer_size() / _MIN_BYTES_PER_SECOND,
        }.get(phase)  # uvicorn closes idle connections
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._time_is_over)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_is_over(self) -> None:
        if self._phase is Phase.RESPONSE and not self.transport.get_write_buffer_size():
            self._update_phase()  # the client has received it
        elif self.conn.our_state not in _BEFORE_RESPONSE:
            self.transport.abort()
        elif self._phase is Phase.HEADERS and not self.conn.trailing_data[0]:
            self.transport.close()  # nothing was sent, so nothing is answered
        else:
            self._respond_and_close(408, f"the client did not send {self._phase.value} in time")

    def _respond_and_close(self, status: int, detail: str) -> None:
        content = json.dumps({"detail": detail}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
        for event in (response, h11.Data(data=content), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._enter(Phase.RESPONSE)


def connection_factory(limits: ConnectionLimits) -> Callable[..., LimitedConnection]:
    """Return a function that makes the connections of one server."""
    connections = OpenConnections(limits)

    def make(*arguments: Any, **named: Any) -> LimitedConnection:
        return LimitedConnection(*arguments, connections=connections, **named)

    return make
