"""Measure `find` on a GPU: each step alone, all steps in one process, and in several processes.

    python -m benchmarks.speed.gpu                                three minutes
    python -m benchmarks.speed.gpu --model FOLDER --workers 4 8   other model and processes

Words per second of wall-clock time on raw text. For the encoder alone the batches are already on
the GPU. Without a GPU everything is measured on the CPU.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.data import raw_english
from benchmarks.speed.rows import RESULTS
from benchmarks.speed.texts import write_lines
from thresher.cli.app import build_app
from thresher.entities.built_in import ENGLISH
from thresher.entities.finder import EntityFinder
from thresher.entities.word_scorer import WORDS_PER_BATCH
from thresher.gates.batching import batches_by_length
from thresher.text.sentences import segment

SENTENCES = 20_000
_PASSAGE = 20  # sentences per text


def measure(model: str, device: str) -> dict[str, int]:
    """Return the words per second of each step of `find` alone, and of all together."""
    finder = EntityFinder.load(model, device=device)
    sentences = [words for words in raw_english() if words][-SENTENCES:]
    texts = [
        " ".join(" ".join(words) for words in sentences[low : low + _PASSAGE])
        for low in range(0, len(sentences), _PASSAGE)
    ]
    batch_words = WORDS_PER_BATCH[torch.device(device).type]
    groups = [
        [sentences[i] for i in each]
        for each in batches_by_length(sentences, words_per_batch=batch_words)
    ]
    batches = [finder.encoder.batch(each) for each in groups]
    gates = finder.gate_scores(sentences)
    words = sum(map(len, sentences))
    steps: dict[str, Callable[[], object]] = {
        "encoder": lambda: [finder.encoder.encode(each) for each in batches],
        "encoder, half precision": lambda: _encode_in_float16(finder, batches, device),
        "sentences and words": lambda: [segment(text) for text in texts],
        "tokens": lambda: [finder.encoder.batch(each) for each in groups],
        "gates": lambda: finder.gate_scores(sentences),
        "views and decoding": lambda: finder.score_gates(sentences, gates),
        "find": lambda: list(finder.find_all(texts)),
    }
    with torch.inference_mode():
        return {name: round(words / _seconds(step, device)) for name, step in steps.items()}


def _encode_in_float16(finder: EntityFinder, batches: list[Any], device: str) -> None:
    kind = torch.device(device).type
    with torch.autocast(kind, dtype=torch.float16, enabled=kind == "cuda"):
        for each in batches:
            finder.encoder.encode(each)


def _seconds(step: Callable[[], object], device: str) -> float:
    """Return the time of the faster of two runs."""
    times = []
    for _ in range(2):
        started = time.perf_counter()
        step()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return min(times)


def measure_workers(model: str, device: str, workers: int, count: int) -> dict[str, float]:
    """Estimate the speed and the start-up time of `find --workers` from two sizes of text."""
    small_words, small_seconds = _find_in_workers(model, device, workers, count // 10)
    words, seconds = _find_in_workers(model, device, workers, count)
    rate = (words - small_words) / (seconds - small_seconds)
    return {"words_per_second": round(rate), "start_seconds": round(seconds - words / rate, 1)}


def _find_in_workers(model: str, device: str, workers: int, count: int) -> tuple[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        text = write_lines(Path(folder) / "text.txt", count)
        words = len(text.read_text(encoding="utf-8").split())
        started = time.perf_counter()
        options = ["--model", model, "--device", device, "--workers", str(workers), "--quiet"]
        build_app("find")(
            ["find", str(text), *options, "-o", f"{folder}/out.jsonl"], standalone_mode=False
        )
        return words, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=ENGLISH)
    parser.add_argument("--workers", type=int, nargs="*", default=[8, 15])
    parser.add_argument(
        "--sentences", type=int, default=1_000_000, help="for the runs with workers"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    on_gpu = options.device.startswith("cuda")
    figures: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if on_gpu else options.device,
        "words_per_second": measure(options.model, options.device),
        "in_workers": {},
    }
    _write(figures)
    for count in options.workers:
        figures["in_workers"][count] = measure_workers(
            options.model, options.device, count, options.sentences
        )
        _write(figures)


def _write(figures: dict[str, Any]) -> None:
    print(json.dumps(figures), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "gpu.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
