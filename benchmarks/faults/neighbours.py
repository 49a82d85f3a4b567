"""Measure how much the score of a sentence depends on the sentences in the same batch."""

import random
from typing import Any

import numpy as np

from benchmarks.faults.cases import sentences
from thresher import EntityFinder
from thresher.text.sentences import segment

# Models, and whether they compute in float32 although int8 is available.
MODELS = {
    "english, int8": ("english", False),
    "english, --exact": ("english", True),
    "fast-english": ("fast-english", False),
}


def compare_neighbours(count: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Score sentences one by one, all together, and in another order; return a row per model."""
    split = [list(each.texts) for text in sentences(count, seed=seed) for each in segment(text)]
    order = list(range(len(split)))
    random.Random(seed).shuffle(order)
    rows = []
    for name, (model, exact) in MODELS.items():
        finder = EntityFinder.load(model, device="cpu", exact=exact)
        alone = [finder.gate_scores([words]) for words in split]
        together = finder.gate_scores(split)
        shuffled = finder.gate_scores([split[i] for i in order])
        differences = (
            np.abs(np.concatenate(alone) - together),
            np.abs(np.concatenate([alone[i] for i in order]) - shuffled),
        )
        row = {"model": name, "sentences": len(split), "words": len(together), "losses": []}
        row["largest"] = float(max(each.max() for each in differences))
        row["changed"] = float(np.mean(differences[0] > 0))
        rows.append(row)
        print(row, flush=True)
    return rows
