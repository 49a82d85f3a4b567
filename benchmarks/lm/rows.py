"""Rows of an experiment, and the files with their results."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import ALL_RESULTS
from thresher.atomic_files import write_file

RESULTS = ALL_RESULTS / "lm"
SEEDS = (0, 1, 2)
FIVE_SEEDS = (0, 1, 2, 3, 4)

Result = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One way to train a model on a corpus.

    seeds: only the first for candidates from which the best is chosen
    """

    corpus: str
    shape: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "full"
    tied: bool = True
    seeds: tuple[int, ...] = SEEDS

    def with_(self, *, seeds: tuple[int, ...] = SEEDS, **changes: Any) -> "Row":
        """Return the row with changed settings, `dropout` or `positions`."""
        shape_changes = {
            name: changes.pop(name) for name in ("dropout", "positions") if name in changes
        }
        shape, settings = dict(self.shape) | shape_changes, dict(self.settings) | changes
        return Row(self.corpus, shape, settings, self.output, self.tied, seeds)


def _no_rows(found: Mapping[str, Result]) -> dict[str, Row]:
    return {}


@dataclass(frozen=True)
class Experiment:
    """Rows by name, and further rows that depend on the validation results of seed 0.

    chosen: returns these rows from the results of seed 0 by row; none until all candidates are done
    """

    rows: dict[str, Row]
    chosen: Callable[[Mapping[str, Result]], dict[str, Row]] = _no_rows


def path_of(experiment: str, row: str, seed: int, folder: Path = RESULTS) -> Path:
    """Return the file of a row."""
    name = row.replace(",", "").replace(" ", "-").replace(":", "-").replace(".", "_")
    return folder / f"{experiment}--{name}--{seed}.json"


def write_result(result: Result, folder: Path = RESULTS) -> None:
    """Write the result of a row atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(result["experiment"], result["row"], result["seed"], folder)
    write_file(path, (json.dumps(result, separators=(",", ":")) + "\n").encode())


def results(experiment: str, folder: Path = RESULTS) -> dict[str, dict[int, Result]]:
    """Return the results of an experiment: row → seed → result."""
    found: dict[str, dict[int, Result]] = {}
    for path in sorted(folder.glob(f"{experiment}--*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found.setdefault(result["row"], {})[result["seed"]] = result
    return found
