"""Draw page.png: the page in a browser, with the text it offers as an example."""

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "page.png"
SIZE = {"width": 1200, "height": 810}
COLOURS = 96  # keep the file small


def main() -> None:
    """Start a server, look at its page, and keep what is seen."""
    browser = shutil.which("chromium")
    if browser is None:
        print("page.png was not drawn: there is no chromium")
        return
    command = [sys.executable, "-m", "thresher", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            seen = look(server.stdout.readline().partition(" ")[0], browser)
        finally:
            server.terminate()
    picture = Image.open(BytesIO(seen)).convert("RGB").quantize(COLOURS)
    picture.save(PICTURE, optimize=True)


def look(address: str, browser: str) -> bytes:
    """The page with an entity chosen."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = launched.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(address)
        page.click("#example")
        page.click(".on >> text=Agder")
        return page.screenshot()


if __name__ == "__main__":
    main()
