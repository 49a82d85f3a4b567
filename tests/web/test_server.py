"""The rest of the server: its page, its health, its figures, its description of itself."""

import re
from contextlib import nullcontext
from pathlib import Path

import anyio
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from thresher.web import page
from thresher.web.app import create_app
from thresher.web.metrics import Measured, Metrics
from thresher.web.models import Shelf

PAGE = Path(page.__file__).parent


def test_health_is_told(client):
    assert client.get("/healthz").json()["status"] == "ok"


def figures(client) -> dict[str, float]:
    lines = client.get("/metrics").text.splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_figures_count_what_was_asked(shelf):
    client = TestClient(create_app(shelf))
    client.post("/find", json={"texts": ["Oslo", "Larvik"]})
    client.post("/find", json={})
    client.get("/no/such/path")
    counted = figures(client)
    assert counted['thresher_requests_total{path="/find",status="200"}'] == 1
    assert counted['thresher_requests_total{path="/find",status="422"}'] == 1
    assert counted['thresher_requests_total{path="other",status="404"}'] == 1
    assert counted["thresher_texts_total"] == 2
    assert counted["thresher_characters_total"] == 10
    assert counted["thresher_request_seconds_count"] == 3
    assert counted['thresher_request_seconds_bucket{le="+Inf"}'] == 3
    buckets = [counted[name] for name in counted if "bucket" in name]
    assert buckets == sorted(buckets)
    assert 0 < counted["thresher_request_seconds_sum"] < 60


@pytest.mark.parametrize(("fails", "status"), [(False, 499), (True, 500)])
def test_a_request_without_an_answer_is_counted_too(fails, status):
    async def app(scope, receive, send):
        if fails:
            raise ZeroDivisionError

    metrics = Metrics(waiting=lambda: 0)
    measured = Measured(app, metrics=metrics, paths=frozenset({"/find"}))
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        anyio.run(measured, {"type": "http", "path": "/find"}, None, None)
    assert metrics.requests == {("/find", status): 1}


def test_the_figures_are_as_prometheus_wants_them(client):
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')
    for line in answer.text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line


def test_the_page_and_all_it_asks_for_come_from_the_server(client):
    """Nothing from elsewhere, and nothing that the page does not need."""
    files = {
        file.name for file in PAGE.iterdir() if file.suffix in {".html", ".css", ".js", ".svg"}
    }
    content = {name: (PAGE / name).read_text(encoding="utf-8") for name in files}
    named = set(re.findall(r'(?:src|href)="([\w.]+\.\w+)"', content["index.html"]))
    named |= set(re.findall(r'from "\./([\w.]+)"', content["page.js"]))
    assert named - {"openapi.json"} == files - {"index.html"}
    assert client.get("/").text == content["index.html"]
    for name in named:
        assert client.get(f"/{name}").status_code == 200, name
    for name, text in content.items():
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name


@pytest.mark.parametrize("path", ["/", "/page.js"])
def test_the_page_may_load_nothing_from_elsewhere(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/page/", "/../pyproject.toml", "/%2e%2e/app.py", "/page/__init__.py", "/index.html"]
)
def test_no_path_reaches_another_file(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"detail": "Not Found"}


def test_no_page_is_offered_that_loads_its_parts_from_elsewhere(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


def test_a_shelf_needs_a_model():
    with pytest.raises(ValueError, match="a server needs a model"):
        Shelf({})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/find"),
        ("POST", "/download"),
        ("GET", "/models"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
    ],
)
def test_the_server_is_as_it_describes_itself(shelf, method, path):
    """Requests as its description allows, and some that it does not, get described answers."""
    described = schemathesis.openapi.from_asgi("/openapi.json", create_app(shelf))
    assert len(list(described.get_all_operations())) == 5

    @given(described[path][method].as_strategy())
    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    def ask(case):
        case.call_and_validate()

    ask()
