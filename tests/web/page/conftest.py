"""The page in a real browser; skipped if there is none, unless THRESHER_BROWSER=required."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.web.conftest import with_eager_selector

from thresher import EntityFinder
from thresher.web.app import create_app
from thresher.web.models import ServedModels
from thresher.web.server import make_server

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def finder() -> EntityFinder:
    """The built-in model without a transformer: quick, and it knows kinds."""
    return EntityFinder.load("fast-english")


@pytest.fixture(scope="session")
def two_selectors(finder) -> EntityFinder:
    return with_eager_selector(finder)


@pytest.fixture(scope="module")
def executable() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = f"no browser found; looked for {', '.join(BROWSERS)}"
        if os.environ.get("THRESHER_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def serving(models: ServedModels, **options: Any) -> Iterator[str]:
    server = make_server(create_app(models, **options))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def address(finder, two_selectors) -> Iterator[str]:
    models = ServedModels({"english": finder, "two": two_selectors})
    with serving(models, max_bytes=20_000) as address:
        yield address


@pytest.fixture
def protected_address(finder) -> Iterator[str]:
    with serving(ServedModels({"english": finder}), token="secret") as address:
        yield address


@pytest.fixture(scope="module")
def browser(executable):
    playwright = pytest.importorskip("playwright.sync_api")
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=executable, args=quiet)
        yield launched
        launched.close()


class Visit:
    """An open page with its requests and errors."""

    def __init__(self, page, address: str) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.errors_are_expected = False
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append("a dialog"))
        page.on("console", self._record)
        page.goto(address)

    def _record(self, message) -> None:
        if message.type in {"error", "warning"} and not self.errors_are_expected:
            self.errors.append(message.text)

    def find_requests(self) -> int:
        return sum(url.endswith("/find/stream") for url in self.requests)

    def type(self, text: str) -> None:
        """Replace the text and wait for its entities."""
        self.page.fill("#text", text)
        self.wait_until_current()

    def wait_until_current(self) -> None:
        self.page.wait_for_selector("#entities-panel[aria-busy=false]")

    def entities(self) -> list[str]:
        """Return the entities that are marked in the text."""
        return self.page.locator("#highlights mark.entity").all_text_contents()

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, kind and count of the entities in the list."""
        cells = """rows => rows.map((row) =>
            [".name", ".kind", ".count"].map((name) => row.querySelector(name).textContent))"""
        return [tuple(row) for row in self.page.locator("#entities li").evaluate_all(cells)]

    def put_cursor(self, offset: int) -> None:
        self.page.focus("#text")
        self.page.evaluate(
            "at => document.getElementById('text').setSelectionRange(at, at)", offset
        )

    def wait_for_address(self) -> None:
        self.page.wait_for_timeout(400)  # it is written after a pause

    def set_threshold(self, threshold: float) -> None:
        self.page.fill("#threshold", str(threshold))


@pytest.fixture(scope="module")
def context(browser):
    return browser.new_context(
        viewport={"width": 1280, "height": 760},
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )


@pytest.fixture
def visit(context, address) -> Iterator[Visit]:
    visit = Visit(context.new_page(), address)
    yield visit
    visit.page.close()
    assert visit.errors == []
    assert all(url.startswith((address, "blob:")) for url in visit.requests)
