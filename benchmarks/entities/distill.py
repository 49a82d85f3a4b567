"""Teach the student that `benchmarks.entities.build_english` puts into the package as fast-english.

    python -m benchmarks.entities.distill      ten minutes on one core, one on a GPU

The built-in model teaches it on the raw text that it learned from itself; no label is read.
"""

import torch

from benchmarks.data import DISTILLED, raw_english
from thresher.entities.finder import EntityFinder


def main() -> None:
    torch.set_num_threads(1)
    EntityFinder.default().distill_words(raw_english()).save(DISTILLED)


if __name__ == "__main__":
    main()
