"""What a row of an experiment is, and the file that holds what came out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import ALL_RESULTS
from thresher.atomic_files import write_file

RESULTS = ALL_RESULTS / "lm"
SEEDS = (0, 1, 2)

Result = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One way to train a model on a corpus.

    seeds: fewer than all for rows that only serve to choose
    """

    corpus: str
    shape: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "full"
    tied: bool = True
    seeds: tuple[int, ...] = SEEDS

    def with_(self, *, seeds: tuple[int, ...] = SEEDS, **changes: Any) -> "Row":
        """The same row but for some settings, `dropout` or `positions`."""
        of_shape = {name: changes.pop(name) for name in ("dropout", "positions") if name in changes}
        shape, settings = dict(self.shape) | of_shape, dict(self.settings) | changes
        return Row(self.corpus, shape, settings, self.output, self.tied, seeds)


def _nothing(found: Mapping[str, Result]) -> dict[str, Row]:
    return {}


@dataclass(frozen=True)
class Experiment:
    """Rows by name, and more rows that follow from what seed 0 of the first did on validation.

    chosen: of the results of seed 0 by row; empty until all that it needs are there
    """

    rows: dict[str, Row]
    chosen: Callable[[Mapping[str, Result]], dict[str, Row]] = _nothing


def path_of(experiment: str, row: str, seed: int, folder: Path = RESULTS) -> Path:
    """The file of a row: words joined by hyphens."""
    name = row.replace(",", "").replace(" ", "-").replace(":", "-").replace(".", "_")
    return folder / f"{experiment}--{name}--{seed}.json"


def write_result(result: Result, folder: Path = RESULTS) -> None:
    """Write a row, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(result["experiment"], result["row"], result["seed"], folder)
    write_file(path, (json.dumps(result, separators=(",", ":")) + "\n").encode())


def results(experiment: str, folder: Path = RESULTS) -> dict[str, dict[int, Result]]:
    """What there is of an experiment: row → seed → result."""
    found: dict[str, dict[int, Result]] = {}
    for path in sorted(folder.glob(f"{experiment}--*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found.setdefault(result["row"], {})[result["seed"]] = result
    return found
