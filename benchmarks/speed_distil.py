"""Teach the student that `benchmarks.english` puts into the package as fast-english.

    python -m benchmarks.speed_distil      ten minutes on one core, one on a GPU

The built-in model teaches it on the raw text that it learned from itself; no label is read.
"""

import torch

from benchmarks.data import raw_english
from benchmarks.speed_rows import DISTILLED
from thresher.entities.finder import EntityFinder


def main() -> None:
    torch.set_num_threads(1)
    EntityFinder.default().distill_words(raw_english()).save(DISTILLED)


if __name__ == "__main__":
    main()
