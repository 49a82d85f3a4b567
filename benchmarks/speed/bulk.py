"""Process many sentences in two workers: with processes, with Ray, with Ray and a killed worker.

    python -m benchmarks.speed.bulk                       a million sentences: 15 minutes
    python -m benchmarks.speed.bulk --sentences 50000     two minutes

Uses fast-english. One record in the middle is broken and must be reported with its position; every
other record must occur in the output exactly once.
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from benchmarks.speed.process import ProcessUsage, run_thresher
from benchmarks.speed.rows import RESULTS
from benchmarks.speed.texts import write_records
from thresher.entities.built_in import FAST_ENGLISH


class Killer:
    """Kills one Ray worker after five seconds of CPU time."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, process: int) -> None:
        with suppress(psutil.Error):  # the process has ended
            for each in () if self.killed else psutil.Process(process).children(recursive=True):
                if "MapWorker" in "".join(each.cmdline()) and each.cpu_times().user > 5:
                    each.kill()
                    self.killed += 1
                    return


def row(name: str, count: int, done: ProcessUsage, files: Iterable[Path]) -> dict[str, Any]:
    """Count missing and repeated records, and the messages on the broken record."""
    numbers: Counter[int] = Counter()
    for path in files:
        with path.open(encoding="utf-8") as lines:
            numbers.update(_number(line) for line in lines)
    messages = [line for line in done.stderr.splitlines() if line.startswith("thresher: ")]
    return {
        "row": name,
        "sentences": count,
        **{key: value for key, value in asdict(done).items() if key != "stderr"},
        "sentences_per_second": round(count / done.seconds),
        "missing": count - 1 - len(numbers),
        "repeated": sum(numbers.values()) - len(numbers),
        "told": [re.sub(r"\S*/", "", line) for line in messages],
    }


def _number(line: str) -> int:
    record = json.loads(line)
    return int(record["text"].rpartition("(")[2].rstrip(")"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    options = parser.parse_args()
    count = options.sentences
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        source = write_records(directory / "many.jsonl", count, bad=count // 2)
        common = ["find", str(source), "--model", FAST_ENGLISH, "--device", "cpu", "--quiet"]
        common += ["--workers", "2", "-o"]
        plain = run_thresher([*common, str(directory / "plain.jsonl")])
        _write(row("workers", count, plain, [directory / "plain.jsonl"]))
        (directory / "plain.jsonl").unlink()
        for name, killer in (("ray", None), ("ray-killed", Killer())):
            out = directory / name
            done = run_thresher(
                [*common, str(out), "--engine", "ray"], on_poll=killer or (lambda process: None)
            )
            figures = row(name, count, done, sorted(out.glob("part-*")))
            _write(figures | ({"killed": killer.killed} if killer else {}))


def _write(figures: dict[str, Any]) -> None:
    print(figures, flush=True)
    path = RESULTS / f"bulk-{figures['row']}.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
