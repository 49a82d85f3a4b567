"""Train the gates of the English students once more, on a mean of two finders.

    python -m benchmarks.entities.refit_gates     three minutes on one core for each student, and
                                                  six for the targets
    python -m benchmarks.entities.refit_gates --only narrow

`benchmarks.entities.distill_layers` has taught the students the vectors and the gates of their
teacher. Here their layers stay as they are, and selector and link gate learn the targets of
`benchmarks.entities.gate_targets` from the vectors of their last layer. A student that is not in
benchmarks/models is taken from the package. Writes benchmarks/models/narrow and small.
"""

import argparse
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from benchmarks.data import NARROW, SMALL
from benchmarks.entities.gate_targets import GateTargets, raw_sentences
from thresher.entities.built_in import ENGLISH, SMALL_ENGLISH, find_model_folder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.model import FinderModel
from thresher.gates.batching import sentence_starts
from thresher.gates.objective import agreement
from thresher.gates.optimization import adamw, set_learning_rate, take_step
from thresher.gates.selector import Selector

STUDENTS = {NARROW.name: (NARROW, ENGLISH), SMALL.name: (SMALL, SMALL_ENGLISH)}
EPOCHS, LEARNING_RATE, WEIGHT_DECAY, WARM_UP = 4, 1e-3, 1e-2, 100
LINK_WEIGHT = 0.5
_CHUNK = 64  # neighbouring words that stay together, since the link gate reads pairs
_CHUNKS_PER_BATCH = 128


def refit(
    selector: Selector,
    link_gate: LinkGate,
    vectors: NDArray[np.float16],
    targets: GateTargets,
    ends_sentence: NDArray[np.bool_],
    *,
    epochs: int = EPOCHS,
    learning_rate: float = LEARNING_RATE,
) -> None:
    """Train a selector and a link gate on targets, with binary cross-entropy; changes both.

    vectors: (words, width)   ends_sentence: (words,), True for the last word of each sentence
    """
    modules = (selector.requires_grad_(True), link_gate.requires_grad_(True))
    optimizer = adamw(modules, learning_rate=learning_rate, weight_decay=WEIGHT_DECAY)
    linked = 1 / (1 + np.exp(-targets.links))
    batches = list(_batches(len(vectors), epochs))
    for step, words in enumerate(batches):
        vector = torch.from_numpy(vectors[words].astype(np.float32))
        in_sentence = torch.from_numpy(~ends_sentence[words[:, :-1]])
        gates = selector(vector.flatten(0, 1))
        gate_loss = agreement(gates, torch.from_numpy(targets.gates[words]).flatten())
        link_loss = functional.binary_cross_entropy_with_logits(
            link_gate(vector[:, :-1][in_sentence], vector[:, 1:][in_sentence]),
            torch.from_numpy(linked[words[:, :-1]])[in_sentence],
        )
        set_learning_rate(optimizer, step=step, steps=len(batches), warm_up=WARM_UP)
        take_step(optimizer, gate_loss + LINK_WEIGHT * link_loss, when=f"at step {step + 1}")
        if step % 100 == 0:
            print(f"step {step}: gates {gate_loss:.4f}, links {link_loss:.4f}", flush=True)


def _batches(words: int, epochs: int) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of the words of each batch: (chunks, words of a chunk)."""
    chunks = np.arange(words // _CHUNK * _CHUNK).reshape(-1, _CHUNK)
    generator = np.random.default_rng(0)
    for _ in range(epochs):
        shuffled = generator.permutation(chunks)
        for low in range(0, len(chunks), _CHUNKS_PER_BATCH):
            yield shuffled[low : low + _CHUNKS_PER_BATCH]


def refitted(folder: Path) -> FinderModel:
    """Return the model of a folder with gates that have learned the targets."""
    sentences, targets = raw_sentences(), GateTargets.of_raw_text()
    with_kinds = EntityFinder.load(folder, device="cpu", exact=True)
    model = replace(with_kinds.model, kinds=None)
    assert model.link_gate is not None
    selector, link_gate = deepcopy(model.selector), deepcopy(model.link_gate)
    encoded = EntityFinder(with_kinds.encoder, model).word_scorer.encode(sentences)
    vectors = encoded.vectors.astype(np.float16)
    ends_sentence = np.zeros(len(vectors), dtype=np.bool_)
    ends_sentence[sentence_starts(sentences)[1:] - 1] = True
    refit(selector, link_gate, vectors, targets, ends_sentence)
    own = replace(model.selectors[model.entity], selector=selector.requires_grad_(False))
    return replace(model, selectors=(own,), link_gate=link_gate.requires_grad_(False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=STUDENTS, default=list(STUDENTS))
    for name in parser.parse_args().only:
        output, built_in = STUDENTS[name]
        refitted(output if output.exists() else find_model_folder(built_in)).write(output)
        print(f"wrote {output.name}")


if __name__ == "__main__":
    main()
