"""Measure the input ranges that the built-in English models lack, and save them with the models.

    python -m benchmarks.entities.measure_ranges

Int8 inference needs the ranges of the encoder's layers and of the first layers of the gates; those
that a model has already stay as they are.
"""

from dataclasses import replace

from benchmarks.data import raw_english
from benchmarks.kinds.build import save
from thresher.entities.built_in import ENGLISH, SMALL_ENGLISH
from thresher.entities.finder import EntityFinder
from thresher.entities.loading import input_ranges


def main() -> None:
    sentences = [words for words in raw_english() if words]
    for name in (ENGLISH, SMALL_ENGLISH):
        finder = EntityFinder.load(name, device="cpu", exact=True)
        ranges = {**input_ranges(finder.encoder, sentences), **finder.model.ranges}
        save(EntityFinder(finder.encoder, replace(finder.model, ranges=ranges)), name)


if __name__ == "__main__":
    main()
