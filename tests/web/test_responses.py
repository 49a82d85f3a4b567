"""POST /find/stream sends the progress of a long request, then the response of /find."""

import json
import socket
import time

import pytest
from starlette.testclient import TestClient
from tests.web.socket_server import SteppingFinder, received, received_until, serving, until

from thresher.web.app import create_app
from thresher.web.connections import ConnectionLimits
from thresher.web.models import ServedModels

LONG = "Magda left Oslo for Larvik. " * 1500


def lines_of(response) -> list[dict]:
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in response.text.splitlines()]


def stream_request(text: str) -> bytes:
    body = json.dumps({"text": text, "words": True}).encode()
    head = "POST /find/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_progress_grows_and_the_last_line_is_the_response_of_find(models):
    client = TestClient(create_app(models))
    body = {"text": LONG, "offsets": "utf-16", "words": True}
    *reports, found = lines_of(client.post("/find/stream", json=body))
    fractions = [each["progress"] for each in reports]
    assert len(fractions) > 3
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < 0.5 < fractions[-1] <= 1
    assert found == client.post("/find", json=body).json()


def test_a_short_text_needs_no_progress(client):
    body = {"text": "Marie Curie moved to Paris."}
    [found] = lines_of(client.post("/find/stream", json=body))
    assert found == client.post("/find", json=body).json()


@pytest.mark.parametrize(
    ("body", "status"), [({}, 422), ({"text": "x", "model": "none"}, 422), ({"text": LONG}, 413)]
)
def test_a_request_that_is_refused_gets_a_status(client, body, status):
    response = client.post("/find/stream", json=body)
    assert response.status_code == status
    assert response.json()["detail"]


def test_an_error_after_the_first_step_is_a_line():
    class Failing(SteppingFinder):
        def score_encoded(self, sentences, encoded):
            raise ZeroDivisionError

    app = create_app(ServedModels({"model": Failing()}))
    with TestClient(app, raise_server_exceptions=False) as client:
        *reports, last = lines_of(client.post("/find/stream", json={"text": LONG}))
    assert reports
    assert last["detail"].startswith("internal error")


def test_the_work_of_a_client_that_cancels_is_dropped():
    finder = SteppingFinder()
    finder.may_go_on.clear()  # the sentences are split, but no word is scored
    with serving(finder) as server:
        connection = server.send(stream_request(LONG))
        received_until(connection, b'{"progress":0.0}')
        connection.close()
        until(lambda: server.waiting_requests() == 0)
        finder.may_go_on.set()
        time.sleep(0.1)
        assert sum(finder.pieces) < len(LONG.split())


def test_a_client_that_does_not_read_the_stream_is_disconnected(monkeypatch):
    monkeypatch.setattr("thresher.web.connections._MIN_BYTES_PER_SECOND", 1e9)
    limits = ConnectionLimits(response_seconds=0.3)
    with serving(limits=limits) as server, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(stream_request("a " * 30_000))
        connection.recv(400)
        time.sleep(1.5)
        assert not received(connection).endswith(b"0\r\n\r\n")  # the last chunk
