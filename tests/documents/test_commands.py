"""Every command in README and docs/, except benchmarks, runs and prints what the page shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = ("pip ", "make ", "python -m benchmarks")
TRAINED = ("fit", "lm", "rationale", "--model")  # their output differs after shorter training

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    line: str
    shown: str

    @property
    def is_trained(self) -> bool:
        """Whether the output depends on a model that the documents train."""
        words = self.line.split()
        return bool(set(TRAINED) & set(words)) and words[-4:-2] != ["--model", "multilingual"]

    @property
    def fails(self) -> bool:
        """Whether the document shows an error message."""
        return re.search(r"^thresher: (?!warning)", self.shown, re.MULTILINE) is not None


def commands(document: Path) -> Iterator[Command]:
    text = document.read_text(encoding="utf-8").replace("\\\n", " ")
    for language, block in FENCE.findall(text):
        if language == "console":
            for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, _, shown = piece.partition("\n")
                yield Command(without_comment(line), shown)
        elif not language:
            for line in block.splitlines():
                if line.startswith("thresher "):
                    yield Command(without_comment(line), "")


def without_comment(line: str) -> str:
    return re.sub(r"\s+#\s.*", "", line).strip()


def masked(text: str) -> list[list[str]]:
    """Return the words of each line; numbers, colours and lengths of rules may differ."""
    text = re.sub(r"\x1b\[[\d;]*m", "", text)
    text = re.sub(r"\d+(?:[.,]\d+)*", "0", text)
    return [re.sub("─+", "─", line).split() for line in text.splitlines() if line.strip()]


WITH_COMMANDS = [document for document in DOCUMENTS if any(commands(document))]


@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda document: document.name)
def test_every_command_prints_what_the_document_shows(document, run):
    for command in commands(document):
        if command.line.startswith(NOT_RUN):
            continue
        outcome = run(command.line)
        assert (outcome.status != 0) == command.fails, (command.line, outcome.err)
        if command.shown and not command.is_trained:
            assert masked(outcome.err + outcome.out) == masked(command.shown), command.line


def test_the_documents_have_commands():
    found = {document.name: len(list(commands(document))) for document in WITH_COMMANDS}
    assert found.keys() >= {"README.md", "command-line.md", "first-ten-minutes.md"}
    assert sum(found.values()) > 25
