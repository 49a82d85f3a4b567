"""Kill the commands, fill the disk, and give them broken texts and hostile model folders.

    python -m benchmarks.faults                          everything
    python -m benchmarks.faults kills --kills 20 --only fit 'lm train'
    python -m benchmarks.faults disk texts folders

Each result is a JSON file in benchmarks/results/faults. The exit status is 1 if anything was lost.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.faults.cases import small_sizes, write_encoder, write_inputs
from benchmarks.faults.disk import STAGES, starve_commands
from benchmarks.faults.folders import load_hostile_folders
from benchmarks.faults.kills import kill_commands
from benchmarks.faults.neighbours import compare_neighbours
from benchmarks.faults.processes import run
from benchmarks.faults.section import RESULTS
from benchmarks.faults.texts import find_in_fuzzed_texts
from thresher.encoders.int8_linear import int8_supported

SUBJECTS = ("kills", "disk", "texts", "folders", "neighbours")
_MODEL = "fit text.txt --encoder encoder --epochs 2 -o model".split()


def prepare_inputs(folder: Path) -> Path:
    """Write the texts, the encoder and the finder that the commands use; return their folder."""
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs)
    write_encoder(inputs / "encoder")
    ended = run(tuple(_MODEL), inputs, log=folder / "model.log")
    if ended.status != 0:
        raise RuntimeError(ended.errors)
    return inputs


def measure(subject: str, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of results of a subject."""
    if subject == "texts":
        return find_in_fuzzed_texts(options.texts, seed=options.seed)
    if subject == "folders":
        return load_hostile_folders(options.folders, folder, seed=options.seed)
    if subject == "neighbours":
        return compare_neighbours(options.sentences, seed=options.seed)
    inputs = prepare_inputs(folder)
    shared = {"inputs": inputs, "folder": folder / "trial", "only": options.only}
    if subject == "kills":
        return kill_commands(options.kills, seed=options.seed, **shared)
    return starve_commands(stages=options.stages, **shared)


def save(rows: list[dict[str, Any]], path: Path, seconds: float) -> None:
    """Write rows of results; those of other commands that are in the file already are kept."""
    minutes, kept = seconds / 60, []
    if path.exists():
        earlier = json.loads(path.read_text(encoding="utf-8"))
        names = {next(iter(row.values())) for row in rows}
        kept = [row for row in earlier["rows"] if next(iter(row.values())) not in names]
        minutes += earlier["minutes"] if kept else 0
    result = {"minutes": round(minutes, 1), "rows": kept + rows}
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(rows)} rows in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, metavar="SUBJECT")
    parser.add_argument("--kills", type=int, default=220)
    parser.add_argument("--stages", type=int, default=STAGES)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--folders", type=int, default=320)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=(), help="names of commands")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    int8_supported()  # once, and not in every child
    options.results.mkdir(parents=True, exist_ok=True)
    lost = 0
    for subject in options.subjects:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, small_sizes():
            rows = measure(subject, options, Path(folder).resolve())
        lost += sum(len(row["losses"]) for row in rows)
        save(rows, options.results / f"{subject}.json", time.monotonic() - started)
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
