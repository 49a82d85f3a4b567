"""Measure how time and memory of `find`, `fit` and `lm train` grow with the size of the text.

    python -m benchmarks.speed.growth                         up to 100,000 sentences: an hour
    python -m benchmarks.speed.growth --max 1000000           days for fit without a GPU
    python -m benchmarks.speed.growth --tasks find --max 1000000
    python -m benchmarks.speed.growth --tasks fit --sizes 1000000 --device cuda --encoder FOLDER
    python -m benchmarks.speed.growth --draw                  only draw the plot

Memory is the private memory of all processes; mapped memory is measured separately: pages of files,
such as the word vectors that `fit` keeps on disk, which the system can evict.

`find` uses fast-english and two workers, `fit` the default encoder and one epoch, `lm train` learns
byte pairs and trains for 20 steps.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.speed.process import run_thresher
from benchmarks.speed.rows import RESULTS
from benchmarks.speed.texts import write_lines
from thresher.entities.built_in import FAST_ENGLISH

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
TASKS = ("find", "fit", "lm train")
DEFAULT_DEVICE = "default"
_LM = "--tokens bpe --vocabulary 4096 --steps 20 --evaluate-every 20 --batch 8 --width 64"
PICTURE = ROOT / "docs" / "pictures" / "speed-growth.svg"


def measure(
    task: str, count: int, *, device: str | None = None, encoder: str | None = None
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        text = str(write_lines(directory / "text.txt", count))
        device_option = ["--device", device] if device else []
        commands = {
            "find": ["find", text, "--model", FAST_ENGLISH, "--workers", "2", "--to", "jsonl"],
            "fit": ["fit", text, "--epochs", "1", *(["--encoder", encoder] if encoder else [])],
            "lm train": ["lm", "train", text, *_LM.split()],
        }
        done = run_thresher(
            [*commands[task], *device_option, "--quiet", "-o", str(directory / "out")]
        )
        if done.status:
            raise RuntimeError(done.stderr)
    return {
        "row": task,
        "sentences": count,
        "seconds": done.seconds,
        "peak_gb": done.peak_gb,
        "mapped_gb": done.mapped_gb,
        "device": device or DEFAULT_DEVICE,
    }


def growth_rows() -> dict[str, list[dict[str, Any]]]:
    """Return the measured rows by title: a task, and its device if it is not the default one."""
    rows = [json.loads(path.read_bytes()) for path in RESULTS.glob("growth-*.json")]
    rows.sort(
        key=lambda row: (TASKS.index(row["row"]), row["device"] != DEFAULT_DEVICE, row["sentences"])
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        title = row["row"] if row["device"] == DEFAULT_DEVICE else f"{row['row']}, {row['device']}"
        found.setdefault(title, []).append(row)
    return found


def draw() -> None:
    """Draw time and memory against the number of sentences, one line per task."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 (an extra that the measuring machine may lack)

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, key, title in zip(axes, ("seconds", "peak_gb"), ("seconds", "GB"), strict=True):
        for label, rows in growth_rows().items():
            points = [(each["sentences"], each[key]) for each in rows]
            axis.plot(*zip(*points, strict=True), marker="o", label=label)
        axis.set(xscale="log", yscale="log", xlabel="sentences", title=title)
    axes[0].legend()
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max", type=int, default=100_000)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=SIZES, help="numbers of sentences, up to --max"
    )
    parser.add_argument("--tasks", nargs="*", default=TASKS, choices=TASKS)
    parser.add_argument("--device")
    parser.add_argument("--encoder", help="encoder for fit, if the default one is not installed")
    parser.add_argument("--draw", action="store_true", help="measure nothing, only draw")
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    if not options.draw:
        for task in options.tasks:
            for count in (size for size in options.sizes if size <= options.max):
                row = measure(task, count, device=options.device, encoder=options.encoder)
                print(row, flush=True)
                where = "-".join(["growth", *task.split(), *filter(None, [options.device])])
                path = RESULTS / f"{where}-{count}.json"
                path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
