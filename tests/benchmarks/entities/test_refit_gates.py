"""Gates learn the targets of each word, and links those of pairs within a sentence."""

import numpy as np
import torch
from benchmarks.entities.gate_targets import GateTargets
from benchmarks.entities.refit_gates import refit

from thresher.entities.finding.link_gate import LinkGate
from thresher.gates.selector import Selector


def test_gates_and_links_learn_their_targets() -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(8192, 64)).astype(np.float16)
    gates = 1 / (1 + np.exp(-3 * vectors[:, 0].astype(np.float32)))
    links = np.where(vectors[:, 1] > 0, 3.0, -3.0).astype(np.float32)
    ends_sentence = generator.random(8192) < 0.1
    links[ends_sentence] = np.nan  # must not be read: the next word is in another sentence
    torch.manual_seed(0)
    selector, link_gate = Selector(64, hidden=32), LinkGate(64, hidden=16)

    targets = GateTargets(gates, links)
    refit(selector, link_gate, vectors, targets, ends_sentence, epochs=600, learning_rate=0.01)

    with torch.no_grad():
        inputs = torch.from_numpy(vectors.astype(np.float32))
        opened = selector.prob_open(inputs).numpy()
        linked = link_gate.of_neighbours(inputs).sigmoid().numpy()
    expected = 1 / (1 + np.exp(-links[:-1]))
    within = ~ends_sentence[:-1]
    assert np.abs(opened - gates).mean() < 0.04
    assert np.abs(linked[:-1] - expected)[within].mean() < 0.08
