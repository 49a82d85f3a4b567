"""Measure rationales for labelled tasks: gates, REINFORCE, random words and gradients.

    python -m benchmarks.rationales [--only "synthetic stretched" …] [--seeds 0 1 2]

Every row and seed is written to a JSON file in benchmarks/results/rationales, named by row, seed,
code version and machine; existing files are not measured again. The rows of the task `sources`
explain one classifier with three seeds of gates; those of `synthetic` have texts and a classifier
of their own for each seed.
"""

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.encoder import default_encoder
from benchmarks.machine import machine_name
from benchmarks.rationales.experiment import PreparedTask, code_version, prepare, run_row
from benchmarks.rationales.rows import RESULTS, ROWS
from benchmarks.rationales.tasks import TASKS
from thresher.encoders import Encoder


def run(names: list[str], seeds: list[int], encoder: Encoder, results: Path, work: Path) -> None:
    """Measure and write every row and seed that has no file yet."""
    code, where = code_version(), machine_name()
    shared: dict[tuple[object, ...], PreparedTask] = {}
    for seed in seeds:
        for name in names:
            stem = f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{seed}"
            path = results / f"{stem}-{code}-{where}.json"
            if path.exists():
                continue
            row = ROWS[name]
            gates_at = str(row.settings.get("gates_at", "input"))
            task_seed = seed if row.task == "synthetic" else 0
            key = (row.task, task_seed, gates_at)
            if key not in shared:
                task = TASKS[row.task](task_seed)
                shared[key] = prepare(task, encoder, work, gates_at=gates_at, seed=task_seed)
            result = run_row(row, seed, shared[key])
            about = {"row": name, "task": row.task, "seed": seed, "code": code, "machine": where}
            for old in results.glob(f"{stem}-*-{where}.json"):
                old.unlink()
            path.write_text(json.dumps({**about, **result}, indent=1) + "\n", encoding="utf-8")
            print(_summary(name, seed, result), flush=True)


def _summary(name: str, seed: int, result: dict[str, Any]) -> str:
    each = result["figures"]["rationale"]
    f1 = f"  F1 {result['token']['f1']:.3f}" if "token" in result else ""
    return (
        f"{name:34s} {seed}  {result['seconds']:6.1f} s  selected {each['selected']:.3f}  accuracy "
        f"{each['accuracy']:.3f} {each['accuracy_from_rationale']:.3f} "
        f"{each['accuracy_without']:.3f}{f1}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    encoder = default_encoder(options.encoder)
    with tempfile.TemporaryDirectory() as work:
        run(options.only, options.seeds, encoder, options.results, Path(work))


if __name__ == "__main__":
    main()
