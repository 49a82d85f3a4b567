"""Train the link gate on the vectors of raw text."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.training.link_targets import LinkTargets
from thresher.gates.seeding import seeded

MIN_LINKS = 300  # pairs of words that are one name; with fewer, no link gate is trained
_EPOCHS = 3
_PAIRS_PER_BATCH = 1024
_SAMPLED_PLAIN = 0.15  # of the pairs of ordinary lower-case words
_LEARNING_RATE, _WEIGHT_DECAY = 1e-3, 1e-2


def fit_link_gate(
    vectors: NDArray[np.float16], link_targets: LinkTargets, *, seed: int, device: torch.device
) -> LinkGate | None:
    """Return a gate trained with binary cross-entropy; None if the text has too few links.

    vectors: (words, width)
    """
    targets = link_targets.values
    known = np.flatnonzero(~np.isnan(targets))
    if np.count_nonzero(targets[known] == 1) < MIN_LINKS:
        return None
    generator = np.random.default_rng(seed)
    plain = link_targets.plain[known]
    kept = ~plain | (generator.random(len(known)) < _SAMPLED_PLAIN)
    pairs = known[kept]
    weights = np.where(plain[kept], 1 / _SAMPLED_PLAIN, 1.0).astype(np.float32)
    with seeded(seed):
        gate = LinkGate(vectors.shape[1]).to(device)
    optimizer = torch.optim.AdamW(gate.parameters(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = _EPOCHS * -(-len(pairs) // _PAIRS_PER_BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _LEARNING_RATE, total_steps=steps)
    for _ in range(_EPOCHS):
        order = generator.permutation(len(pairs))
        for low in range(0, len(order), _PAIRS_PER_BATCH):
            chosen = np.sort(order[low : low + _PAIRS_PER_BATCH])
            batch = pairs[chosen]
            left, right, target, weight = (
                torch.from_numpy(np.asarray(each, dtype=np.float32)).to(device)
                for each in (vectors[batch], vectors[batch + 1], targets[batch], weights[chosen])
            )
            loss = functional.binary_cross_entropy_with_logits(
                gate(left, right), target, weight=weight
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return gate.half().float().eval()
