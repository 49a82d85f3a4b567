"""Access token, allowed hosts, and attacks on the protocol, on real sockets."""

import json
import logging

import httpx
import pytest
from starlette.testclient import TestClient
from tests.web.socket_server import (
    SteppingFinder,
    find_request,
    received,
    response,
    serving,
    status,
)

from thresher.errors import InputError
from thresher.web.app import create_app
from thresher.web.models import ServedModels
from thresher.web.server import RepetitionFilter

TOKEN = "correct-horse"


@pytest.fixture(scope="module")
def protected() -> TestClient:
    return TestClient(create_app(ServedModels({"model": SteppingFinder()}), token=TOKEN))


PROTECTED = [
    ("GET", "/"),
    ("POST", "/find"),
    ("POST", "/download"),
    ("GET", "/models"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/no/such/path"),
    ("GET", "/healthz/"),
    ("GET", "//healthz"),
]


@pytest.mark.parametrize(("method", "path"), PROTECTED)
@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN],
)
def test_without_the_token_every_path_is_refused(protected, method, path, given):
    headers = {} if given is None else {"Authorization": given}
    response = protected.request(method, path, headers=headers, follow_redirects=False)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert TOKEN not in response.text


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_with_the_token_requests_are_answered(protected, scheme):
    headers = {"Authorization": f"{scheme} {TOKEN}"}
    assert protected.post("/find", json={"text": "Oslo"}, headers=headers).status_code == 200
    assert protected.get("/", headers=headers).status_code == 200
    assert protected.get("/models", headers=headers).status_code == 200


def test_health_checks_need_no_token(protected):
    assert protected.get("/healthz").json()["status"] == "ok"


def test_the_page_without_a_token_can_ask_for_it(protected):
    page = protected.get("/")
    assert "text/html" in page.headers["Content-Type"]
    assert 'id="token"' in page.text
    for name in ("page.js", "page.css", "entity_list.js", "icon.svg"):
        assert protected.get(f"/{name}").status_code == 200


@pytest.mark.parametrize("token", ["", "two words", "pässword", "a\nb"])
def test_a_token_that_no_header_can_contain_is_an_error(token):
    models = ServedModels({"model": SteppingFinder()})
    with pytest.raises(InputError, match="`token` must consist of"):
        create_app(models, token=token)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("localhost", True),
        ("LOCALHOST:8000", True),
        ("127.0.0.1:80", True),
        ("[::1]:8000", True),
        ("a.example.org", True),
        ("b.a.example.org", True),
        ("example.org", False),
        ("aexample.org", False),
        ("evil.com", False),
        ("localhost.evil.com", False),
        ("evil.com:localhost", False),
        ("localhost@evil.com", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_only_allowed_hosts_are_answered(host, allowed):
    hosts = ["localhost", "127.0.0.1", "::1", "*.example.org"]
    client = TestClient(create_app(ServedModels({"model": SteppingFinder()}), allowed_hosts=hosts))
    for path in ("/", "/healthz", "/models"):
        response = client.get(path, headers={"Host": host})
        assert response.status_code == (200 if allowed else 400), path
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert allowed or "--allowed-host" in response.json()["detail"]


@pytest.mark.parametrize("path", ["/", "/page.js", "/find", "/healthz", "/metrics", "/no", "/docs"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PUT", "BREW"])
def test_every_response_forbids_to_guess_its_type(client, path, method):
    response = client.request(method, path, headers={"Origin": "http://evil.com"})
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.status_code < 500
    assert not any(name.startswith("access-control") for name in response.headers)


def test_an_internal_error_is_one_line_of_json():
    finder = SteppingFinder()
    finder.score_texts = lambda texts: 1 / 0
    app = create_app(ServedModels({"model": finder}))
    client = TestClient(app, raise_server_exceptions=False)
    response = client.post("/find", json={"text": "Oslo"})
    assert response.status_code == 500
    assert response.json() == {"detail": "internal error; the log of the server says more"}
    assert response.headers["X-Content-Type-Options"] == "nosniff"


START = b"POST /find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"text": "Oslo"}'
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
ATTACKS = {
    "length and chunks": (START + b"Content-Length: 4\r\n" + CHUNKED + b"0\r\n\r\n", 400),
    "two lengths": (START + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n" + BODY, 400),
    "a negative length": (START + b"Content-Length: -4\r\n\r\n" + BODY, 400),
    "a length that is no number": (START + b"Content-Length: 1e3\r\n\r\n" + BODY, 400),
    "a length beyond any memory": (START + b"Content-Length: " + b"9" * 18 + b"\r\n\r\n", 413),
    "an endless length": (START + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
    "another encoding": (START + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    "a chunk size that is no number": (START + CHUNKED + b"xyz\r\n", 400),
    "a negative chunk size": (START + CHUNKED + b"-1\r\n", 400),
    "an endless chunk size": (START + CHUNKED + b"9" * 100 + b"\r\n", 400),
    "a chunk longer than its size": (START + CHUNKED + b"1\r\n{}\r\n0\r\n\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", 400),
    "HTTP/1.0 without host": (b"GET /healthz HTTP/1.0\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\n", 400),
    "HTTP/0.9": (b"GET /healthz\r\n\r\n", 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 99 + b"\r\n\r\n", 400),
    "zero bytes": (b"\x00" * 100 + b"\r\n\r\n", 400),
    "an endless header": (START + b"X: " + b"x" * 100_000, 400),
    "an endless line": (b"GET /" + b"x" * 100_000, 400),
    "many headers": (START + b"X: x\r\n" * 20_000, 400),
    "a folded header": (START + b"X: a\r\n b\r\nContent-Length: 16\r\n\r\n" + BODY, 200),
    "a header without name": (START + b": x\r\n\r\n", 400),
    "a space before the colon": (START + b"Content-Length : 16\r\n\r\n" + BODY, 400),
    "a bare line feed": (START.replace(b"\r\n", b"\n") + b"Content-Length: 16\n\n" + BODY, 200),
    "another site's path": (b"GET http://evil.com/find HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "a path of dots": (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "a coded path": (b"GET /%2e%2e%2fetc%2fpasswd%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "a path that is not UTF-8": (b"GET /%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "CONNECT": (b"CONNECT evil.com:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    "TRACE": (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    "OPTIONS": (b"OPTIONS /find HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\n\r\n", 405),
    "a websocket": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        200,
    ),
    "not UTF-8": (START + b'Content-Length: 11\r\n\r\n{"text": "\xff', 422),
    "many unknown fields": (
        START + b"Content-Length: 480010\r\n\r\n" + b'{"a":1,' * 60_000 + b'"a":1}'.ljust(60_010),
        422,
    ),
}


@pytest.fixture(scope="module")
def server():
    with serving(allowed_hosts=["localhost"]) as running:
        yield running


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_gets_one_clear_response(server, attack, caplog):
    data, expected = ATTACKS[attack]
    received = response(server.send(data))
    assert received.startswith(b"HTTP/1.1 %d " % expected)
    assert received.lower().count(b"x-content-type-options: nosniff") == 1
    if expected >= 400:
        assert list(json.loads(received.partition(b"\r\n\r\n")[2])) == ["detail"]
    assert not any(record.exc_info for record in caplog.records)


def test_a_hidden_second_request_is_not_answered(server):
    """A request whose end two servers could see differently is refused with its connection."""
    hidden = b"GET /models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    data = START + b"Content-Length: 5\r\n" + CHUNKED + b"0\r\n\r\n" + hidden
    assert received(server.send(data)).count(b"HTTP/1.1 ") == 1


def test_pipelined_requests_are_answered_in_order(server):
    paths = ["healthz", "no", "models", "healthz"]
    data = b"".join(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % p.encode() for p in paths)
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    statuses = [part[:3] for part in received(server.send(data + last)).split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404", b"200", b"200", b"200"]


def test_http_1_0_is_answered_and_closed(server):
    request = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    assert b'"status":"ok"' in received(server.send(request))


@pytest.mark.parametrize(
    "header",
    [b"Content-Length: 900000\r\n\r\n", b"Content-Length: 900000\r\nExpect: 100-continue\r\n\r\n"],
)
def test_a_body_that_is_too_large_is_answered_before_it_is_sent(server, header):
    connection = server.send(START + header)
    assert status(connection) == 413


def test_a_client_that_sends_too_much_first_still_gets_the_response(server):
    connection = server.send(START + b"Content-Length: 3000000\r\n\r\n" + b"x" * 3_000_000)
    assert status(connection) == 413


def test_chunks_beyond_the_limit_are_cut_off(server):
    connection = server.send(START + CHUNKED)
    chunk = b"%x\r\n" % 50_000 + b"x" * 50_000 + b"\r\n"
    for _ in range(11):
        connection.sendall(chunk)
    assert status(connection) == 413


def test_a_server_without_a_token_is_open(server):
    assert status(server.send(find_request("Oslo"))) == 200
    assert httpx.get(f"http://localhost:{server.port}/models").status_code == 200


def test_repeated_log_messages_are_counted_instead(monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    limit = RepetitionFilter()

    def record(message):
        return logging.LogRecord("x", logging.ERROR, "", 0, message, None, None)

    assert limit.filter(record("no descriptors left"))
    assert not any(limit.filter(record("no descriptors left")) for _ in range(1000))
    assert limit.filter(record("another message"))
    now += 11
    last = record("no descriptors left")
    assert limit.filter(last)
    assert last.getMessage() == "no descriptors left (1,000 more like this before)"
