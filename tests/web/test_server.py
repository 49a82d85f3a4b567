"""The other routes: page, health, metrics, models, OpenAPI schema."""

import re
from contextlib import nullcontext
from pathlib import Path

import anyio
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from thresher.encoders.instruction_set import instruction_set
from thresher.web import page
from thresher.web.app import create_app
from thresher.web.metrics import Metrics, MetricsMiddleware
from thresher.web.models import ServedModels

PAGE = Path(page.__file__).parent


def test_health_is_ok(client):
    health = client.get("/healthz").json()
    assert health["status"] == "ok"
    assert health["precision"] in ("int8", "float32")
    assert (health["device"], health["instruction_set"]) == ("cpu", instruction_set())


def metric_values(client) -> dict[str, float]:
    lines = client.get("/metrics").text.splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_metrics_count_requests_and_texts(models):
    client = TestClient(create_app(models))
    client.post("/find", json={"texts": ["Oslo", "Larvik"]})
    client.post("/find", json={})
    client.get("/no/such/path")
    counted = metric_values(client)
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
def test_a_request_without_a_response_is_counted_too(fails, status):
    async def app(scope, receive, send):
        if fails:
            raise ZeroDivisionError

    metrics = Metrics(waiting=lambda: 0)
    middleware = MetricsMiddleware(app, metrics=metrics, paths=frozenset({"/find"}))
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        anyio.run(middleware, {"type": "http", "path": "/find"}, None, None)
    labels = {"path": "/find", "status": str(status)}
    assert metrics.registry.get_sample_value("thresher_requests_total", labels) == 1


def test_metrics_have_the_text_format_of_prometheus(client):
    response = client.get("/metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')
    for line in response.text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line


def test_the_page_loads_only_files_of_this_server(client):
    """Nothing from other servers, and every served file is used."""
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
def test_the_content_policy_forbids_other_servers(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/page/", "/../pyproject.toml", "/%2e%2e/app.py", "/page/__init__.py", "/index.html"]
)
def test_no_path_serves_another_file(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert response.json() == {"detail": "Not Found"}


def test_the_documentation_pages_of_fastapi_are_off(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404


def test_served_models_need_at_least_one_model():
    with pytest.raises(ValueError, match="at least one model"):
        ServedModels({})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/find"),
        ("POST", "/find/stream"),
        ("POST", "/download"),
        ("GET", "/models"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
    ],
)
def test_responses_follow_the_openapi_schema(models, method, path):
    """Valid and invalid generated requests get responses that the schema describes."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(models))
    assert len(list(schema.get_all_operations())) == 6

    @given(schema[path][method].as_strategy())
    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    def send_request(case):
        # A schema cannot say that `only` must name some of the kinds, nor a name just one kind.
        has_kinds = isinstance(case.body, dict) and {"kinds", "only"} & case.body.keys()
        excluded = [positive_data_acceptance] if has_kinds else []
        case.call_and_validate(excluded_checks=excluded)

    send_request()
