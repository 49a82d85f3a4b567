"""thresher serve: start, responses, stop, and errors at the start."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import httpx
import pytest
from starlette.testclient import TestClient

from thresher import EntityFinder
from thresher.cli import serve
from thresher.web.app import MAX_BYTES, MAX_WAITING
from thresher.web.connections import ConnectionLimits

COMMAND = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
THRESHER = [sys.executable, "-c", COMMAND + "from thresher.cli import main; sys.exit(main())"]


def request(address: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, data, headers)) as answer:
        return json.load(answer)


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server for the block; yield its process and address."""
    command = [*THRESHER, "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            yield it, it.stdout.readline().partition(" ")[0]
        finally:
            it.kill()


def test_a_server_answers_and_ends_with_ctrl_c(model):
    with serving("--model", f"first={model}", "--model", model) as (server, address):
        assert address.startswith("http://127.0.0.1:")
        names = [each["name"] for each in request(f"{address}/models")["models"]]
        assert names == ["first", "letters"]
        text = "Nobody knew why Magda had left Oslo."
        [found] = request(f"{address}/find", {"text": text})["results"]
        assert [(span["start"], span["end"]) for span in found["spans"]] == [
            (span.start, span.end) for span in EntityFinder.load(model).find(text)
        ]
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=60)
        assert (server.returncode, err) == (0, "")


@pytest.fixture(autouse=True)
def _environment_as_it_was(monkeypatch):
    """Restore the environment variable that `serve` sets for torch's threads."""
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")


def test_a_port_in_use_is_reported_before_any_model_is_loaded(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "--port", port, "--model", "no/such/model")
    assert result.status == 1
    assert result.error_line == f"cannot listen on 127.0.0.1 port {port}: Address already in use"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--model a=none", "there is no model folder none"),
        ("--model x/a=b/m --model x/a=c/m", "two models have the name x/a; give each its own"),
        (
            "--model b/m --model c/m",
            "two models have the name m; give each its own name, as name=folder",
        ),
        ("--host 1.2.3.4.5", "cannot listen on 1.2.3.4.5 port 0"),
    ],
)
def test_a_server_that_cannot_start_reports_why(run, arguments, message):
    result = run("serve", "--port", "0", *arguments.split())
    assert result.status == 1
    assert message in result.error_line


@pytest.mark.parametrize("port", ["70000", "-1", "http"])
def test_an_invalid_port_is_a_usage_error(run, port):
    result = run("serve", "--port", port)
    assert result.status == 2
    assert "Invalid value for '--port': " in result.error_line


@pytest.mark.parametrize("model", ["=folder", "name=", "="])
def test_a_model_without_a_name_or_a_folder_is_a_usage_error(run, model):
    result = run("serve", "--model", model)
    assert result.status == 2
    assert f"{model!r} is not of the form name=folder" in result.error_line


def test_without_fastapi_the_error_names_the_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "thresher.web.server", raising=False)
    result = run("serve")
    assert result.status == 1
    assert result.error_line == (
        "the server needs FastAPI: pip install '.[serve]' in the source folder of Thresher"
    )


@pytest.mark.parametrize(
    ("options", "names"),
    [([], ["english"]), (["--model", "english", "--model", "lab={}"], ["english", "lab"])],
)
def test_the_built_in_model_is_called_english(run, model, monkeypatch, options, names):
    served = []
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: served.append(self.config.app))
    result = run("serve", "--port", 0, *(each.format(model) for each in options))
    assert (result.status, result.err) == (0, "")
    answer = TestClient(served[0], base_url="http://localhost").get("/models").json()["models"]
    assert [each["name"] for each in answer] == names
    assert answer[0]["thresholds"] == [EntityFinder.default().threshold]


@pytest.mark.parametrize(
    ("options", "limits", "connection_limits"),
    [
        (
            "",
            {
                "max_bytes": MAX_BYTES,
                "max_waiting": MAX_WAITING,
                "token": None,
                "allowed_hosts": ("127.0.0.1", "localhost", "127.0.0.1", "::1"),
            },
            ConnectionLimits(),
        ),
        (
            "--most-bytes 30 --most-waiting 2 --token secret --allowed-host a --allowed-host b "
            "--most-connections 5 --header-timeout 1.5 --body-timeout 2.5",
            {
                "max_bytes": 30,
                "max_waiting": 2,
                "token": "secret",
                "allowed_hosts": ["a", "b"],
            },
            ConnectionLimits(max_connections=5, header_seconds=1.5, body_seconds=2.5),
        ),
    ],
)
def test_limits_reach_the_server(run, model, monkeypatch, options, limits, connection_limits):
    received = []
    monkeypatch.setattr("thresher.web.app.create_app", lambda _, **given: received.append(given))
    server = SimpleNamespace(run=lambda sockets: None)
    monkeypatch.setattr(
        "thresher.web.server.make_server", lambda _, given: received.append(given) or server
    )
    assert run("serve", "--port", 0, "--model", f"m={model}", *options.split()).status == 0
    assert received == [limits, connection_limits]


def test_the_token_can_be_given_as_an_environment_variable(run, model, monkeypatch):
    served = []
    monkeypatch.setenv("THRESHER_TOKEN", "secret")
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: served.append(self.config.app))
    assert run("serve", "--port", 0, "--model", f"m={model}").status == 0
    client = TestClient(served[0], base_url="http://localhost")
    assert client.get("/models").status_code == 401
    headers = {"Authorization": "Bearer secret"}
    assert client.get("/models", headers=headers).status_code == 200


def test_an_empty_token_is_refused(run, model):
    result = run("serve", "--port", 0, "--model", f"m={model}", "--token", "")
    assert result.status == 1
    assert result.error_line.startswith("--token must consist of ASCII letters")


def test_a_token_makes_the_warning_unnecessary(run, model, monkeypatch):
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    result = run("serve", "--host", "0.0.0.0", "--port", 0, "--model", f"m={model}", "--token", "x")
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize(
    ("host", "warned"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)]
)
def test_a_server_that_other_machines_can_reach_prints_a_warning(
    run, model, monkeypatch, host, warned
):
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    result = run("serve", "--host", host, "--port", 0, "--model", f"m={model}")
    assert result.status == 0
    assert ("warning: everyone who can reach 0.0.0.0 can use" in result.err) == warned


def test_a_response_is_sent_without_delay():
    with (
        serve._listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_server_keeps_idle_connections_longer_than_clients_do(run, monkeypatch):
    seconds = []
    monkeypatch.setattr(
        "uvicorn.Server.run",
        lambda self, sockets: seconds.append(self.config.timeout_keep_alive),
    )
    assert run("serve", "--port", "0", "--quiet").status == 0
    assert seconds[0] > httpx.Limits().keepalive_expiry


def test_many_connections_do_not_use_up_the_descriptors(model):
    """Neither is a new client kept out, nor does the log grow with the number of connections."""
    command = [*THRESHER, "serve", "--port", "0", "--model", f"m={model}"]
    limited = ["bash", "-c", 'ulimit -n 200 && exec "$@"', "bash", *command]
    with subprocess.Popen(
        limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        address = server.stdout.readline().partition(" ")[0]
        port = int(address.rpartition(":")[2])
        with ExitStack() as stack:
            for _ in range(400):
                half_open = socket.create_connection(("127.0.0.1", port))
                stack.enter_context(half_open).sendall(b"GET / HTTP/1.1\r\n")
            assert request(f"{address}/healthz")["status"] == "ok"
        server.terminate()
        _, err = server.communicate(timeout=60)
    assert len(err.splitlines()) < 20
