"""How time and memory of `find`, `fit` and `lm train` grow with the text.

    python -m benchmarks.speed.growth                         up to 100,000 sentences: an hour
    python -m benchmarks.speed.growth --most 1000000          days for fit without a GPU
    python -m benchmarks.speed.growth --tasks find --most 1000000
    python -m benchmarks.speed.growth --tasks fit --sizes 1000000 --device cuda --encoder FOLDER
    python -m benchmarks.speed.growth --draw                  only the picture

Memory is that of the processes' own; beside it stand the pages of files that they have mapped,
such as the vectors of words that `fit` keeps on the disk, which the system may take back.

`find` reads with the distilled finder and two workers, `fit` with the default encoder and one
epoch, `lm train` makes byte pairs and takes 20 steps whatever the text.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from benchmarks.speed.process import spent
from benchmarks.speed.rows import RESULTS
from benchmarks.speed.texts import write_lines
from thresher.entities.built_in import FAST_ENGLISH

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
TASKS = ("find", "fit", "lm train")
DEFAULT = "default"  # device
_LM = "--tokens bpe --vocabulary 4096 --steps 20 --evaluate-every 20 --batch 8 --width 64"
PICTURE = ROOT / "docs" / "pictures" / "speed-growth.svg"


def measure(
    task: str, count: int, *, device: str | None = None, encoder: str | None = None
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        text = str(write_lines(place / "text.txt", count))
        on = ["--device", device] if device else []
        commands = {
            "find": ["find", text, "--model", FAST_ENGLISH, "--workers", "2", "--to", "jsonl"],
            "fit": ["fit", text, "--epochs", "1", *(["--encoder", encoder] if encoder else [])],
            "lm train": ["lm", "train", text, *_LM.split()],
        }
        done = spent([*commands[task], *on, "--quiet", "-o", str(place / "out")])
        if done.status:
            raise RuntimeError(done.told)
    return {
        "row": task,
        "sentences": count,
        "seconds": done.seconds,
        "peak_gb": done.peak_gb,
        "mapped_gb": done.mapped_gb,
        "device": device or DEFAULT,
    }


def grown() -> dict[str, list[dict[str, Any]]]:
    """All rows, by what they are of: a task, on its default device or another."""
    rows = [json.loads(path.read_bytes()) for path in RESULTS.glob("growth-*.json")]
    rows.sort(key=lambda row: (TASKS.index(row["row"]), row["device"] != DEFAULT, row["sentences"]))
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        title = row["row"] if row["device"] == DEFAULT else f"{row['row']}, {row['device']}"
        found.setdefault(title, []).append(row)
    return found


def draw() -> None:
    """Time and memory against sentences, each task a line."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 (not on every machine that measures)

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, key, title in zip(axes, ("seconds", "peak_gb"), ("seconds", "GB"), strict=True):
        for title_of_row, rows in grown().items():
            points = [(each["sentences"], each[key]) for each in rows]
            axis.plot(*zip(*points, strict=True), marker="o", label=title_of_row)
        axis.set(xscale="log", yscale="log", xlabel="sentences", title=title)
    axes[0].legend()
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="those up to --most")
    parser.add_argument("--tasks", nargs="*", default=TASKS, choices=TASKS)
    parser.add_argument("--device")
    parser.add_argument("--encoder", help="for fit, where the default one is not installed")
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    if not options.draw:
        for task in options.tasks:
            for count in (size for size in options.sizes if size <= options.most):
                row = measure(task, count, device=options.device, encoder=options.encoder)
                print(row, flush=True)
                where = "-".join(["growth", *task.split(), *filter(None, [options.device])])
                path = RESULTS / f"{where}-{count}.json"
                path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
