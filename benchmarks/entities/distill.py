"""Distil the teacher of the built-in models into the one that ships as fast-english.

    python -m benchmarks.entities.distill      ten minutes on one core, one minute on a GPU

The teacher scores the raw text that it was trained on; no labels are used. Afterwards
`benchmarks.entities.build_english` copies the model into the package.
"""

import torch

from benchmarks.data import DISTILLED, TEACHER, raw_english
from thresher.entities.finder import EntityFinder
from thresher.entities.training.distillation import DistillationSettings


def main() -> None:
    torch.set_num_threads(1)
    settings = DistillationSettings(epochs=6)
    EntityFinder.load(TEACHER).distill_words(raw_english(), settings=settings).save(DISTILLED)


if __name__ == "__main__":
    main()
