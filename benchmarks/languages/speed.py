"""Compare the speed of the multilingual model with that of the English one, on a CPU.

    python -m benchmarks.languages.speed [--sentences 400] [--rounds 5] [--threads 1]

Both find the entities of the same English sentences, in turns, so that other programs slow both
down alike; the time is processor time. The multilingual model also reads Chinese and Danish.
Writes benchmarks/results/languages/multilingual/speed.json.
"""

import argparse
import json
import time
from statistics import median

import torch

from benchmarks.data import raw_english
from benchmarks.languages.measure import RESULTS
from benchmarks.languages.multilingual_data import training_text
from thresher.atomic_files import write_file
from thresher.entities.finder import EntityFinder

PATH = RESULTS / "speed.json"


def words_per_second(finder: EntityFinder, sentences: list[list[str]]) -> float:
    """Return the number of words for which a second of processor time is enough."""
    started = time.process_time()
    finder.score_sentences(sentences)
    return sum(map(len, sentences)) / (time.process_time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    english, multilingual = map(EntityFinder.load, ("english", "multilingual"))
    texts = {"english": raw_english()[: options.sentences]}
    texts |= {name: training_text()[name][: options.sentences] for name in ("da", "zh")}
    runs: dict[str, list[float]] = {}
    for _ in range(options.rounds + 1):
        rows = {"english model": (english, texts["english"])}
        rows |= {
            f"multilingual model, {name}": (multilingual, text) for name, text in texts.items()
        }
        for name, row in rows.items():
            runs.setdefault(name, []).append(words_per_second(*row))
    speeds = {name: median(each[1:]) for name, each in runs.items()}  # the first one is a warm-up
    ratios = [
        own / other
        for own, other in zip(
            runs["multilingual model, english"][1:], runs["english model"][1:], strict=True
        )
    ]
    results = {
        "threads": options.threads,
        "precision": multilingual.precision,
        "words_per_second": speeds,
        "ratio": median(ratios),
        "ratios": ratios,
    }
    write_file(PATH, (json.dumps(results, indent=1) + "\n").encode())
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
