"""Slow, silent and too many clients on real sockets."""

import contextlib
import re
import socket
import time

import pytest
from tests.web.socket_server import (
    SteppingFinder,
    find_request,
    received,
    serving,
    status,
    until,
)

from thresher.web.connections import ConnectionLimits

QUICK = ConnectionLimits(header_seconds=0.3, body_seconds=0.3, response_seconds=0.3)
HEADERS = b"POST /find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UNFINISHED = {
    "nothing": (b"", b""),
    "half of the headers": (HEADERS, b"HTTP/1.1 408 "),
    "half of the body": (HEADERS + b'Content-Length: 90\r\n\r\n{"te', b"HTTP/1.1 408 "),
    "half a chunk": (HEADERS + b"Transfer-Encoding: chunked\r\n\r\n90\r\n{", b"HTTP/1.1 408 "),
    "the body of a request to nowhere": (
        b"POST /no HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx",
        b"HTTP/1.1 408 ",
    ),
}


@pytest.mark.parametrize("sent", UNFINISHED)
def test_a_request_that_is_not_finished_in_time_ends(sent):
    data, answer = UNFINISHED[sent]
    with serving(limits=QUICK) as server:
        started = time.monotonic()
        response = received(server.send(data))
        assert response.startswith(answer)
        assert bool(response) == bool(answer)
        assert 0.2 < time.monotonic() - started < 10


@pytest.mark.parametrize("data", [HEADERS, HEADERS + b"Content-Length: 500\r\n\r\n"])
def test_a_trickle_of_bytes_does_not_extend_the_time(data):
    with serving(limits=QUICK) as server:
        connection = server.send(data)
        started = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - started < 10:
                connection.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() - started < 5


def test_a_client_that_does_not_read_its_response_is_disconnected(monkeypatch):
    monkeypatch.setattr("thresher.web.connections._MIN_BYTES_PER_SECOND", 1e9)
    body = b'{"words": true, "text": "%s"}' % (b"a " * 30_000)
    with serving(limits=QUICK) as server, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(HEADERS + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        start = connection.recv(400)
        time.sleep(1)
        [length] = re.findall(rb"content-length: (\d+)", start)
        assert len(received(connection)) < int(length) // 2


def test_a_new_connection_replaces_the_oldest_one_that_waits_for_its_client():
    finder = SteppingFinder()
    with serving(finder, ConnectionLimits(max_connections=5)) as server:
        finder.may_go_on.clear()
        busy = server.send(find_request("Oslo"))
        until(lambda: server.waiting_requests() == 1)
        waiting = [server.send(HEADERS) for _ in range(10)]
        new = server.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(new) == 200
        assert [is_closed(each) for each in waiting] == [True] * 7 + [False] * 3
        finder.may_go_on.set()
        assert status(busy) == 200


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_idle_connections_are_replaced_too():
    with serving(limits=ConnectionLimits(max_connections=5)) as server:
        for _ in range(20):
            each = server.send(find_request("Oslo"))
            assert status(each) == 200
