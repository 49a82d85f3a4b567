"""Measure the time from an empty environment to a table of the entities of 1,000 documents.

python -m benchmarks.installation.first_table

The documents have about 120 words each, sentences of two texts of the project in random order. The
time of the installation depends on the network and on the package index that pip uses.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from benchmarks.data import ALL_RESULTS, ROOT

RESULT = ALL_RESULTS / "first_table.json"
_WORDS = 120


def write_documents(folder: Path, count: int) -> int:
    """Write documents of about 120 words; return the number of words of all of them."""
    order = random.Random(0)
    names = ("examples/harbour.txt", "examples/lab-notes.txt")
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in names]
    sentences = [each.strip() for text in texts for each in text.replace("\n", " ").split(". ")]
    total = 0
    for number in range(count):
        words: list[str] = []
        while len(words) < _WORDS:
            words += f"{order.choice(sentences)}.".split()
        (folder / f"{number:04}.txt").write_text(" ".join(words) + "\n", encoding="utf-8")
        total += len(words)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, help="use it; do not measure an installation")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "documents").mkdir()
        words = write_documents(folder / "documents", 1000)
        measured: dict[str, float | None] = {"documents": 1000, "words": words, "install": None}
        environment = options.environment or folder / "environment"
        if options.environment is None:
            measured["install"] = _install(environment, folder)
        for model in ("english", "fast-english"):
            table = folder / f"{model}.csv"
            arguments = ["entities", "documents", "-o", str(table), "--model", model, "-q"]
            begun = time.perf_counter()
            subprocess.run([environment / "bin" / "thresher", *arguments], cwd=folder, check=True)
            measured[model] = time.perf_counter() - begun
            measured[f"{model}_rows"] = len(table.read_text(encoding="utf-8").splitlines()) - 1
    print(json.dumps(measured, indent=1))
    RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _install(environment: Path, folder: Path) -> float:
    """Install the wheel with the extra english; return the seconds that pip took."""
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(folder))
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    options = ["install", "-q", "-c", str(ROOT / "constraints.txt"), f"{wheel}[english]"]
    begun = time.perf_counter()
    subprocess.run([environment / "bin" / "pip", *options], check=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
