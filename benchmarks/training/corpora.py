"""Measure memory and speed of `thresher lm train` on texts of different sizes, on one CPU core.

    python -m benchmarks.training.corpora [--megabytes 10 100 500 2000] [--output FOLDER]

Each text is made of random words with the frequencies of natural language and written as gzipped
JSON lines. The command is observed from outside, with one thread: its files show which stage it is
in, and /proc its CPU time and memory. Peak memory is that of the process without the pages of
mapped files, which the operating system can drop at any time; `peak_rss_mib` includes them.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.training.nanogpt import ROOT
from thresher.atomic_files import write_file
from thresher.lm.training.corpus import PARTS, TOKENIZER
from thresher.work_folder import TEXT, work_dir_of

RESULTS = ROOT / "benchmarks" / "results" / "training"
WORDS, WORDS_PER_RECORD = 200_000, 500
_SYLLABLES = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
_OPTIONS = "--tokens bpe --vocabulary 8192 --width 64 --layers 2 --heads 2 --context 128 --batch 8"
_STEPS = "--steps 10 --evaluate-every 10 --quiet --device cpu"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
# The stages of the command, each with the file of the work folder that exists when it is finished.
STAGES = {"read": TEXT, "learn": TOKENIZER, "encode": f"{PARTS[-1]}.ids.state"}
TRAIN = "train"  # the rest of the command: import of torch, ten steps, evaluation, saving
_TICKS = os.sysconf("SC_CLK_TCK")


def write_text(path: Path, megabytes: float) -> None:
    """Write gzipped JSON lines with about this many megabytes of text."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(1, 5, WORDS)
    words = np.array(
        ["".join(generator.choice(_SYLLABLES, length)) for length in lengths], dtype=object
    )
    shares = 1 / np.arange(1, WORDS + 1)
    cumulative = np.cumsum(shares / shares.sum())
    left = megabytes * 1e6
    with gzip.open(path, "wt", compresslevel=1) as file:
        while left > 0:
            drawn = np.searchsorted(cumulative, generator.random(WORDS_PER_RECORD))
            text = " ".join(words[np.minimum(drawn, WORDS - 1)]) + "."
            file.write(json.dumps({"text": text}) + "\n")
            left -= len(text) + 1


@dataclass
class StageUse:
    """What one stage of a command has used."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0


@dataclass
class Observer:
    """Adds up what a process uses in each stage, and notes sizes of its files.

    pid: the process   work_dir: the folder whose files show the stage
    """

    pid: int
    work_dir: Path
    stages: dict[str, StageUse] = field(default_factory=dict)
    peak_rss_mib: float = 0.0
    characters: int = 0
    ids: int = 0
    _stage: int = 0
    _last: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), 0.0))

    def observe(self) -> None:
        """Add what the process has used since the last call to its present stage."""
        names, files = [*STAGES, TRAIN], list(STAGES.values())
        while self._stage < len(files) and (self.work_dir / files[self._stage]).exists():
            self._stage += 1  # never back, because the command removes the files when it ends
        stage = names[self._stage]
        use = self.stages.setdefault(stage, StageUse())
        now = time.perf_counter(), cpu_seconds(self.pid)
        use.seconds += now[0] - self._last[0]
        use.cpu_seconds += now[1] - self._last[1]
        self._last = now
        memory = memory_mib(self.pid)
        use.peak_mib = max(use.peak_mib, memory.get("RssAnon", 0.0))
        self.peak_rss_mib = max(self.peak_rss_mib, memory.get("VmHWM", 0.0))
        if stage == TRAIN and not self.ids:
            states = [json.loads((self.work_dir / f"{p}.ids.state").read_bytes()) for p in PARTS]
            self.ids = sum(state["ids"] for state in states)
            self.characters = sum(state["characters"] for state in states)


def measure(path: Path, folder: Path) -> dict[str, Any]:
    """Train on a file with `thresher lm train`; return what each of its stages has used."""
    command = [sys.executable, "-m", "thresher", "lm", "train", str(path), "-o", str(folder)]
    process = subprocess.Popen(
        [*command, *_OPTIONS.split(), *_STEPS.split()],
        env=os.environ | _ONE_THREAD,
        stdout=subprocess.DEVNULL,
    )
    observer = Observer(process.pid, work_dir_of(folder))
    while process.poll() is None:
        observer.observe()
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"lm train ended with status {process.returncode}")
    stages = {name: vars(use) for name, use in observer.stages.items()}
    encoding, reading = observer.stages["encode"], observer.stages["read"]
    return {
        "characters": observer.characters,
        "ids": observer.ids,
        "ids_per_cpu_second": observer.ids / encoding.cpu_seconds,
        "characters_read_per_cpu_second": observer.characters / reading.cpu_seconds,
        "peak_mib": max(use.peak_mib for use in observer.stages.values()),
        "peak_rss_mib": observer.peak_rss_mib,
        "stages": stages,
    }


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_mib(pid: int) -> dict[str, float]:
    """Return the values of /proc/PID/status in MiB, such as RssAnon; none if it has just ended."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {
        line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith("kB")
    }


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--megabytes", nargs="+", type=float, default=[10.0, 100.0, 500.0, 2000.0])
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    for megabytes in given.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text.jsonl.gz"
            write_text(path, megabytes)
            row = measure(path, Path(folder) / "model")
        output = given.output / f"corpus-{megabytes:g}MB.json"
        write_file(output, json.dumps(row, indent=1).encode())
        print(
            f"{megabytes:g} MB: {row['peak_mib']:.0f} MiB, {row['ids_per_cpu_second']:,.0f} ids "
            f"per CPU second, {row['characters_read_per_cpu_second']:,.0f} characters read",
            flush=True,
        )


if __name__ == "__main__":
    main()
