"""A server on a real socket with a finder that takes as long as a test needs."""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import numpy as np

from thresher.entities.finding.scored_text import ScoredSentence, ScoredText
from thresher.entities.kinds.assignment import EncodedWords
from thresher.text import segment
from thresher.web.app import create_app
from thresher.web.connections import ConnectionLimits
from thresher.web.models import ServedModels
from thresher.web.server import make_server


class FakeFinder:
    """What the server needs to know of a finder besides its scores."""

    threshold = 0.5
    precision = "float32"
    kinds = ()
    encoder = SimpleNamespace(device=SimpleNamespace(type="cpu"))
    model = SimpleNamespace(selectors=[None], entity=0)

    def with_selector(self, number):
        return self


class SteppingFinder(FakeFinder):
    """A finder without entities, which can be stopped before each step and counts its work.

    scored: the texts of all batches   pieces: the numbers of words of long texts
    """

    rules = None

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.scored: list[str] = []
        self.pieces: list[int] = []

    def score_texts(self, texts):
        for text in texts:
            self._wait()
            self.scored.append(text)
            sentences = segment(text)
            words = [sentence.texts for sentence in sentences]
            yield ScoredText(text, sentences, self.score_encoded(words, None))

    def unreadable(self, text):
        return None

    def encode(self, sentences):
        words = sum(map(len, sentences))
        if words:
            self._wait()
            self.pieces.append(words)
        return EncodedWords(np.zeros(words, np.float32), np.zeros((words, 0), np.float32))

    def score_encoded(self, sentences, encoded):
        assert encoded is None or len(encoded.gate_scores) == sum(map(len, sentences))
        return [ScoredSentence(words, np.zeros(len(words)), ()) for words in sentences]

    def _wait(self):
        assert self.may_go_on.wait(20)


class RunningServer:
    """A server and the connections that a test has opened to it."""

    def __init__(self, port: int, connections: ExitStack) -> None:
        self.port = port
        self._connections = connections

    def send(self, data: bytes) -> socket.socket:
        """Open a connection, send data and return the connection."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self._connections.enter_context(connection)
        connection.sendall(data)
        return connection

    def waiting_requests(self) -> int:
        """Return the number of requests in the queue of the server."""
        request = b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n"
        lines = received(self.send(request)).decode().splitlines()
        [line] = [line for line in lines if line.startswith("thresher_waiting ")]
        return int(float(line.split()[1]))


@contextmanager
def serving(
    finder=None, limits: ConnectionLimits | None = None, **options
) -> Iterator[RunningServer]:
    """Serve a finder for the block."""
    app = create_app(ServedModels({"model": finder or SteppingFinder()}), **options)
    server = make_server(app, limits)
    with ExitStack() as connections, socket.create_server(("127.0.0.1", 0)) as listener:
        # Connections inherit it. So small that a long response does not fit into it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield RunningServer(listener.getsockname()[1], connections)
        finally:
            connections.close()
            server.should_exit = server.force_exit = True
            thread.join()


def received(connection: socket.socket) -> bytes:
    """Return everything that is received until the server closes the connection."""
    with connection:
        parts = []
        try:
            while part := connection.recv(65_536):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


def received_until(connection: socket.socket, end: bytes) -> bytes:
    """Return what is received up to and including the first packet after which `end` occurs."""
    data = b""
    while end not in data:
        part = connection.recv(65_536)
        assert part, f"the server closed the connection before it sent {end!r}"
        data += part
    return data


def response(connection: socket.socket) -> bytes:
    """Return one whole response; the connection may stay open."""
    data = b""
    while part := connection.recv(65_536):
        data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if length and len(body) >= int(length[1]):
            break
    return data


def status(connection: socket.socket) -> int:
    """Return the status of the next response."""
    return int(response(connection).split()[1])


def find_request(text: str, *, headers: str = "", **fields: object) -> bytes:
    """Return the bytes of a request.

    fields: other fields of its body, such as kinds
    """
    body = json.dumps({"text": text, **fields}).encode()
    return (
        f"POST /find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
