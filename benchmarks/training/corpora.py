"""Measure memory and speed of `lm train` on texts of different sizes, on a CPU.

    python -m benchmarks.training.corpora [--megabytes 10 100 2000] [--output FOLDER]

Each text is made of random words with the frequencies of natural language, written as gzipped JSON
lines, and read in a process of its own: into a text file, into token ids, and in a few training
steps. Peak memory is that of the whole process without the pages of mapped files, which the
operating system can drop at any time; `peak_rss_mib` includes them.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.training.nanogpt import ROOT
from thresher.atomic_files import write_file

RESULTS = ROOT / "benchmarks" / "results" / "training"
WORDS, WORDS_PER_RECORD = 200_000, 500
_SYLLABLES = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]


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


def measure(path: Path, work_dir: Path) -> dict[str, Any]:
    """Read, tokenize and train on a file; return seconds and ids per second of each part."""
    import thresher  # noqa: PLC0415 (only in the measured process)
    from thresher.cli.lm.inputs import document_parts  # noqa: PLC0415
    from thresher.lm.model import Architecture  # noqa: PLC0415
    from thresher.lm.tokens.text_file import TextFile  # noqa: PLC0415
    from thresher.lm.training.corpus import tokenize_corpus  # noqa: PLC0415
    from thresher.lm.training.loop import train  # noqa: PLC0415
    from thresher.lm.training.settings import LanguageModelSettings  # noqa: PLC0415
    from thresher.lm.training.state import TrainingState  # noqa: PLC0415

    clock = [time.perf_counter()]
    text = TextFile.write(work_dir / "text", document_parts(thresher.read_texts(path)))
    clock.append(time.perf_counter())
    corpus = tokenize_corpus(text, tokenizer="bpe", vocabulary=8192, work_dir=work_dir)
    clock.append(time.perf_counter())
    settings = LanguageModelSettings(steps=10, batch=8, evaluate_every=10, validation_tokens=2000)
    state = TrainingState.new(Architecture(8192), settings, corpus.data.counts)
    train(state, corpus.data, settings)
    clock.append(time.perf_counter())
    ids = sum(len(each) for each in (corpus.data.train, corpus.data.validation, corpus.test))
    read, tokenize, training = np.diff(clock).tolist()
    return {
        "characters": len(text),
        "ids": ids,
        "read_seconds": read,
        "tokenize_seconds": tokenize,
        "train_seconds": training,
        "characters_read_per_second": len(text) / read,
        "ids_per_second": ids / tokenize,
    }


def memory_mib(field: str) -> float:
    """Return a value of /proc/self/status, such as RssAnon or VmHWM, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
    return int(values[field]) / 1024


def _measured_process(path: Path, output: Path) -> None:
    """Measure in this process, and its peak memory in a second thread."""
    peak, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak[0] = max(peak[0], memory_mib("RssAnon"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        found = measure(path, Path(folder))
    done.set()
    watcher.join()
    memory = {"peak_mib": peak[0], "peak_rss_mib": memory_mib("VmHWM")}
    write_file(output, json.dumps(found | memory, indent=1).encode())


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--megabytes", nargs="+", type=float, default=[10.0, 100.0, 2000.0])
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--measure", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        _measured_process(*given.measure)
        return
    given.output.mkdir(parents=True, exist_ok=True)
    for megabytes in given.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text.jsonl.gz"
            write_text(path, megabytes)
            output = given.output / f"corpus-{megabytes:g}MB.json"
            module = [sys.executable, "-m", "benchmarks.training.corpora"]
            subprocess.run([*module, "--measure", str(path), str(output)], check=True)
        row = json.loads(output.read_text())
        print(
            f"{megabytes:g} MB: {row['peak_mib']:.0f} MiB, {row['ids_per_second']:,.0f} ids/s, "
            f"{row['characters_read_per_second']:,.0f} characters read per second",
            flush=True,
        )


if __name__ == "__main__":
    main()
