"""Teach the finder with no transformer that the speed benchmark reports on, by the built-in one.

    python -m benchmarks.speed_distil      ten minutes on one core, one on a GPU

It learns from the raw text that the built-in model learned from; no label is read.
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
