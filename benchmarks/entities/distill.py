"""Distil the teacher of the built-in models into the one that ships as fast-english.

    python -m benchmarks.entities.distill      twenty minutes on one core

It learns the targets of `benchmarks.entities.gate_targets` and the word vectors of the teacher on
the raw text; no labels are used. The raw text of the teacher counts twice, since most terms in
lower case are in it. Afterwards `benchmarks.entities.build_english` copies the model into the
package.
"""

from dataclasses import replace

import numpy as np
import torch

from benchmarks.data import DISTILLED, TEACHER, raw_english
from benchmarks.entities.gate_targets import GateTargets, raw_sentences
from thresher.entities.finder import EntityFinder
from thresher.entities.training.distillation import DistillationSettings
from thresher.entities.training.student import distill_model
from thresher.gates.batching import sentence_starts
from thresher.progress import SilentProgress


def main() -> None:
    torch.set_num_threads(1)
    teacher = EntityFinder.load(TEACHER, device="cpu")
    sentences = raw_sentences()
    targets, ends = GateTargets.of_raw_text(), sentence_starts(sentences)[1:-1]
    gates, vectors = np.split(targets.gates, ends), np.split(targets.vectors, ends)
    first = sum(1 for words in raw_english() if words)
    model = distill_model(
        teacher.model,
        teacher.encoder,
        sentences + sentences[:first],
        gates + gates[:first],
        vectors=vectors + vectors[:first],
        settings=DistillationSettings(epochs=6),
        progress=SilentProgress(),
    )
    read_once = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    replace(model, learned_from=model.learned_from | read_once).write(DISTILLED)


if __name__ == "__main__":
    main()
