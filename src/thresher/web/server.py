"""Run an application with limits on connections, descriptors and log lines."""

import logging
import socket
import sys
import time
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from thresher.web.connections import IDLE_SECONDS, ConnectionLimits, connection_factory

_WAITING_CONNECTIONS = 1024  # that the operating system has opened and asyncio has not
# Connections that asyncio opens before it looks at the others again, so that requests do not wait
# while very many connections are opened. If the process has no descriptors left, asyncio logs an
# error for each of them.
_OPENED_AT_ONCE = 16
_OTHER_DESCRIPTORS = 256  # for connections that are not counted yet, and for files
_LOG_SECONDS = 10.0
_MAX_MESSAGES = 1000


def make_server(app: FastAPI, limits: ConnectionLimits | None = None) -> uvicorn.Server:
    """Return a server for an application; `run(sockets=[…])` serves until SIGINT or SIGTERM."""
    limits = limits or ConnectionLimits()
    descriptors = raise_descriptor_limit()
    other = min(_OTHER_DESCRIPTORS, descriptors // 2)
    max_connections = min(limits.max_connections, descriptors - other)
    config = uvicorn.Config(
        app,
        http=connection_factory(replace(limits, max_connections=max_connections)),  # type: ignore[arg-type]
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        backlog=_OPENED_AT_ONCE,
        timeout_keep_alive=IDLE_SECONDS,
    )
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(_REPETITIONS)
    return _Server(config)


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(_WAITING_CONNECTIONS)  # uvicorn has one number for both


def raise_descriptor_limit() -> int:
    """Raise the number of files and connections of this process as far as allowed; return it."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource  # noqa: PLC0415 (does not exist on Windows)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):  # some systems do not allow the hard limit that they report
        return soft
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


class RepetitionFilter(logging.Filter):
    """Lets a message pass once in ten seconds, with the number of its repetitions before."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}
        self._dropped: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        message = str(record.msg)[:200]
        now = time.monotonic()
        if now - self._last.get(message, -_LOG_SECONDS) < _LOG_SECONDS:
            self._dropped[message] = self._dropped.get(message, 0) + 1
            return False
        if len(self._last) > _MAX_MESSAGES:
            self._last.clear()
            self._dropped.clear()
        self._last[message] = now
        if dropped := self._dropped.pop(message, 0):
            record.msg = f"{record.msg} ({dropped:,} more like this before)"
        return True


_REPETITIONS = RepetitionFilter()
