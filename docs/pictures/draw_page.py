"""Take page.png: a screenshot of the web page with its example text."""

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "page.png"
SIZE = {"width": 1200, "height": 760}


def main() -> None:
    """Start a server, take a screenshot of its page and save it."""
    browser = shutil.which("chromium")
    if browser is None:
        print("page.png was not made: chromium is not installed")
        return
    command = [sys.executable, "-m", "thresher", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            screenshot = take_screenshot(server.stdout.readline().partition(" ")[0], browser)
        finally:
            server.terminate()
    Image.open(BytesIO(screenshot)).convert("RGB").save(PICTURE, optimize=True)


def take_screenshot(address: str, browser: str) -> bytes:
    """Return a screenshot of the page with an entity selected."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = launched.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(address)
        page.click("#example")
        page.click("#entities button >> text=Tomasz Wilk")
        page.wait_for_selector("mark.selected")
        return page.screenshot()


if __name__ == "__main__":
    main()
