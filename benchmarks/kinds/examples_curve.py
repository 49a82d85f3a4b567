"""Accuracy of kinds on gold spans by the number of example names, three random draws each."""

from collections.abc import Sequence

import numpy as np

from benchmarks.kinds.data import TypedSet, examples_of, label_of
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.examples import KindExamples

NUMBERS = (1, 3, 10, 30)
DRAWS = 3


def kinds_of_gold_spans(finder: EntityFinder, data: TypedSet) -> list[str | None]:
    """Return the label that the finder predicts for each gold span."""
    candidates = [[Candidate(start, end, 1.0) for start, end in spans] for spans in data.spans]
    predicted: list[str | None] = []
    for low in range(0, len(data.sentences), 512):
        group = data.sentences[low : low + 512]
        typed = finder.assign_kinds(group, candidates[low : low + 512])
        predicted += [label_of(data.name, each.kind) for found in typed for each in found]
    return predicted


def accuracy(finder: EntityFinder, data: TypedSet) -> float:
    """Return the fraction of gold spans whose predicted label is right."""
    gold = [label for labels in data.labels for label in labels]
    predicted = kinds_of_gold_spans(finder, data)
    return float(np.mean([a == b for a, b in zip(gold, predicted, strict=True)]))


def draw(examples: KindExamples, number: int, seed: int) -> KindExamples:
    """Return at most `number` random names of each kind."""
    random = np.random.default_rng(seed)
    return KindExamples(
        {
            kind: tuple(names[i] for i in sorted(random.permutation(len(names))[:number]))
            for kind, names in examples.names.items()
        }
    )


def curve(finder: EntityFinder, data: TypedSet) -> dict[int, Sequence[float]]:
    """Return the accuracy of each draw by the number of examples."""
    examples = examples_of(data.name)
    return {
        number: [
            accuracy(finder.with_kinds(draw(examples, number, seed)), data)
            for seed in range(DRAWS if number < max(map(len, examples.names.values())) else 1)
        ]
        for number in NUMBERS
    }
