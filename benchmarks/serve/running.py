"""A server in a process of its own, and the requests that the clients of the benchmarks send."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from benchmarks.data import ROOT

WORDS, LONG_TEXT_CHARACTERS = 50, 470_000


class RunningServer(NamedTuple):
    """The address of a server and what it has printed on standard error."""

    address: str
    log: IO[str]

    @property
    def port(self) -> int:
        """The port of the address."""
        return int(self.address.rpartition(":")[2])

    def log_lines(self) -> int:
        """Return the number of lines of the log."""
        self.log.seek(0)
        return sum(1 for _ in self.log)


@contextmanager
def running_server() -> Iterator[RunningServer]:
    """Start a server with default options in a process of its own."""
    command = [sys.executable, "-m", "thresher", "serve", "--port", "0"]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT
        ) as server,
    ):
        try:
            assert server.stdout is not None
            yield RunningServer(server.stdout.readline().partition(" ")[0], log)
        finally:
            server.terminate()


def example_words() -> list[str]:
    """Return the words of the example texts."""
    files = (ROOT / "examples" / name for name in ("harbour.txt", "lab-notes.txt"))
    return [word for file in files for word in file.read_text(encoding="utf-8").split()]


def request_body(words: list[str]) -> dict[str, object]:
    """Return a request for all candidates and word scores, like those of the web page."""
    return {"text": " ".join(words), "threshold": 0, "words": True, "offsets": "utf-16"}


def large_text() -> str:
    """Return a text of about the maximum size of a request."""
    text = " ".join(example_words()) + " "
    return (text * (LONG_TEXT_CHARACTERS // len(text) + 1))[:LONG_TEXT_CHARACTERS]
