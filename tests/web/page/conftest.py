"""The page in a real browser; skipped if there is none, unless THRESHER_BROWSER=required."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from thresher.web.app import create_app
from thresher.web.models import ServedModels
from thresher.web.server import make_server

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


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


@pytest.fixture(scope="module")
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
        return sum(url.endswith("/find") for url in self.requests)

    def type(self, text: str) -> None:
        self.page.fill("#text", text)
        self.page.wait_for_function("text => result.textContent === text", arg=text)

    def entities(self) -> list[str]:
        return self.page.locator("#result .entity").all_text_contents()

    def set_threshold(self, threshold: float) -> None:
        self.page.fill("#threshold", str(threshold))


@pytest.fixture(scope="module")
def context(browser):
    return browser.new_context(viewport={"width": 1280, "height": 760}, reduced_motion="reduce")


@pytest.fixture
def visit(context, address) -> Iterator[Visit]:
    visit = Visit(context.new_page(), address)
    yield visit
    visit.page.close()
    assert visit.errors == []
    assert all(url.startswith((address, "blob:")) for url in visit.requests)
