"""Many sentences through two workers: plain processes, then Ray, then Ray with a worker killed.

    python -m benchmarks.speed.bulk                       a million sentences: a quarter of an hour
    python -m benchmarks.speed.bulk --sentences 50000     two minutes

The distilled finder reads them. One record in the middle is broken: it must be told with its place.
Every other must come out exactly once.
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

from benchmarks.speed.process import Spent, spent
from benchmarks.speed.rows import RESULTS
from benchmarks.speed.texts import write_records
from thresher.entities.built_in import FAST_ENGLISH


class Killer:
    """Kills one of the workers of a run, once it has worked for a while."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, process: int) -> None:
        with suppress(psutil.Error):  # it has just ended
            for each in () if self.killed else psutil.Process(process).children(recursive=True):
                if "MapWorker" in "".join(each.cmdline()) and each.cpu_times().user > 5:
                    each.kill()
                    self.killed += 1
                    return


def row(name: str, count: int, done: Spent, files: Iterable[Path]) -> dict[str, Any]:
    """Of the numbers, how many are missing or repeated; and what was told of the broken record."""
    numbers: Counter[int] = Counter()
    for path in files:
        with path.open(encoding="utf-8") as lines:
            numbers.update(_number(line) for line in lines)
    told = [line for line in done.told.splitlines() if line.startswith("thresher: ")]
    return {
        "row": name,
        "sentences": count,
        **{key: value for key, value in asdict(done).items() if key != "told"},
        "sentences_per_second": round(count / done.seconds),
        "missing": count - 1 - len(numbers),
        "repeated": sum(numbers.values()) - len(numbers),
        "told": [re.sub(r"\S*/", "", line) for line in told],
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
        place = Path(folder)
        source = write_records(place / "many.jsonl", count, bad=count // 2)
        common = ["find", str(source), "--model", FAST_ENGLISH, "--device", "cpu", "--quiet"]
        common += ["--workers", "2", "-o"]
        plain = spent([*common, str(place / "plain.jsonl")])
        _write(row("workers", count, plain, [place / "plain.jsonl"]))
        (place / "plain.jsonl").unlink()
        for name, killer in (("ray", None), ("ray-killed", Killer())):
            out = place / name
            done = spent(
                [*common, str(out), "--engine", "ray"], meanwhile=killer or (lambda process: None)
            )
            figures = row(name, count, done, sorted(out.glob("part-*")))
            _write(figures | ({"killed": killer.killed} if killer else {}))


def _write(figures: dict[str, Any]) -> None:
    print(figures, flush=True)
    path = RESULTS / f"bulk-{figures['row']}.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
