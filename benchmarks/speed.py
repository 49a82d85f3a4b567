"""How fast and how small: `find` beside the bare encoder, and `fit` on 10,000 sentences.

    python -m benchmarks.speed

Ratios of one run: the machine is shared and its absolute speed means little.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from benchmarks.data import REPORT, gold, raw_english
from benchmarks.entities import RESULTS
from thresher.entities.finder import _WORDS_PER_BATCH, EntityFinder
from thresher.entities.vectors import batches_by_length


def bare_encoder(finder: EntityFinder, sentences: list[list[str]]) -> None:
    """Tokenizer and encoder on the finder's own batches, and nothing else."""
    with torch.inference_mode():
        for indices in batches_by_length(sentences, words_per_batch=_WORDS_PER_BATCH["cpu"]):
            finder.encoder.encode(finder.encoder.batch([sentences[i] for i in indices]))


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return clock() - started


def find_ratio(rounds: int = 3) -> dict[str, float]:
    """Throughput of `find_words` over that of the bare encoder, alternating; the median ratio.

    In processor time, which other programs on the machine do not lengthen.
    """
    finder = EntityFinder.default(device="cpu")
    sentences = [words for data in gold(REPORT) for words in data.sentences][:1500]
    words = sum(map(len, sentences))
    bare_encoder(finder, sentences[:100])
    ratios = sorted(
        seconds(lambda: bare_encoder(finder, sentences), time.process_time)
        / seconds(lambda: finder.find_words(sentences), time.process_time)
        for _ in range(rounds)
    )
    best = min(seconds(lambda: finder.find_words(sentences)) for _ in range(2))
    return {
        "find_ratio": round(ratios[len(ratios) // 2], 3),
        "find_words_per_second": round(words / best),
    }


def peak_of(job: str) -> dict[str, float]:
    """Run one of the jobs below in a process of its own."""
    out = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed", job], check=True, capture_output=True, text=True
    )
    return json.loads(out.stdout)


def fit_job(count: int) -> dict[str, float]:
    sentences = raw_english()[::5][:count]
    taken = seconds(lambda: EntityFinder.fit_words(sentences))
    return {"seconds": round(taken), "peak_gb": _peak()}


def find_job(texts: int) -> dict[str, float]:
    finder = EntityFinder.default(device="cpu")
    text = " ".join(" ".join(words) for words in gold(REPORT)[1].sentences)  # 25,000 words
    for _ in finder.find_all(text for _ in range(texts)):
        pass
    return {"peak_gb": _peak()}


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 2)


JOBS: dict[str, Callable[[], dict[str, float]]] = {
    "fit-10000": lambda: fit_job(10_000),
    "find-short": lambda: find_job(2),
    "find-long": lambda: find_job(10),
}


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(JOBS[sys.argv[1]]()))
        return
    figures = find_ratio()
    for job in JOBS:
        for key, value in peak_of(job).items():
            figures[f"{job.replace('-', '_')}_{key}"] = value
        print(figures, flush=True)
    (RESULTS / "speed.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
