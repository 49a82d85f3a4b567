"""Kind gates: one selector for each kind, trained on a prior from its example names.

    L = Σ_k agreement(gates_k, π_k) − λ_kl min(D, cap)

D is the divergence between the gates of different kinds, which makes them differ; see
`thresher.gates.variants`. The score of a kind gate is evidence for the kind of an entity. The gates
of some kinds also find entities: those whose examples the general gate often misses, for example
diseases in lower case. A word for which such a gate is open is part of an entity, even if the
general gate is closed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.array_files import Arrays, without_prefix
from thresher.encoders.device_transfer import to_cpu
from thresher.entities.kinds.span_vectors import Vectors
from thresher.gates.choices import GateForm
from thresher.gates.objective import agreement
from thresher.gates.optimization import adamw, set_learning_rate, take_step
from thresher.gates.selector import Selector, seeded_selector
from thresher.gates.variants import DualModels
from thresher.tensor_files import build_module

STEPS = 300
_WORDS_PER_BATCH = 1024
_HIDDEN = 64
_LEARNING_RATE, _WEIGHT_DECAY, _WARM_UP = 3e-3, 1e-2, 20
_DIVERGENCE = DualModels(weight=0.03, cap=0.5)  # λ_kl and cap
_WORDS_PER_PART = 65_536  # of which scores are computed at a time
_FINDING = "finding"
_SEED_DISTANCE = 7919  # between the seeds of selectors that are trained together


@dataclass(frozen=True)
class KindGates:
    """A selector for each kind.

    finding: whether the gate of each kind also finds entities; None if all of them do
    """

    selectors: tuple[Selector, ...]
    finding: tuple[bool, ...] | None = None

    def scores(self, vectors: Tensor) -> Tensor:
        """Return P(open) of every word for every kind: (words, kinds).   vectors: (words, width)"""
        with torch.inference_mode():
            return torch.stack([each.prob_open(vectors) for each in self.selectors], dim=1)

    def to(self, device: torch.device) -> "KindGates":
        """Return the gates on another device."""
        return replace(self, selectors=tuple(each.to(device).eval() for each in self.selectors))

    def to_arrays(self) -> Arrays:
        """Return the weights by name, in half precision."""
        arrays = {
            f"{number}.{name}": value.half().cpu().contiguous().numpy()
            for number, each in enumerate(self.selectors)
            for name, value in each.state_dict().items()
        }
        return arrays | ({} if self.finding is None else {_FINDING: np.array(self.finding)})

    @classmethod
    def from_arrays(cls, count: int, arrays: Arrays) -> "KindGates":
        """Return the gates whose weights `to_arrays` gave.   count: of kinds"""
        tensors = {name: torch.from_numpy(value) for name, value in arrays.items()}
        states = [without_prefix(f"{number}.", tensors) for number in range(count)]
        selectors = tuple(
            build_module(partial(_selector_for, each), each).eval() for each in states
        )
        if _FINDING not in arrays:  # all gates find
            return cls(selectors)
        finding = arrays[_FINDING]
        if finding.dtype != np.bool_ or finding.shape != (count,):
            got = f"{finding.dtype} of the shape {finding.shape}"
            raise ValueError(f"`{_FINDING}` must be {count} flags, one for each kind, got {got}")
        return cls(selectors, tuple(finding.tolist()))


def _selector_for(state: Mapping[str, Tensor]) -> Selector:
    """Return an untrained selector into which these weights fit."""
    width, hidden = len(state["norm.weight"]), len(state["inner.bias"])
    return Selector(width, hidden=hidden, form=GateForm.THRESHOLDED)


def train_kind_gates(
    vectors: NDArray[np.float16] | Vectors,
    prior: Vectors,
    *,
    device: torch.device,
    seed: int = 0,
    after_step: Callable[[], None] = lambda: None,
) -> KindGates:
    """Train a selector for each kind on word vectors.

    vectors: (words, width)   prior: (words, kinds)
    """
    seeds = [seed + number * _SEED_DISTANCE for number in range(prior.shape[1])]
    selectors = [
        seeded_selector(each, vectors.shape[1], hidden=_HIDDEN, form=GateForm.THRESHOLDED).to(
            device
        )
        for each in seeds
    ]
    optimizer = adamw(selectors, learning_rate=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    generator = np.random.default_rng(seed)
    for step in range(STEPS):
        set_learning_rate(optimizer, step=step, steps=STEPS, warm_up=_WARM_UP)
        rows = np.sort(generator.integers(len(vectors), size=_WORDS_PER_BATCH))
        batch = torch.from_numpy(np.asarray(vectors[rows], dtype=np.float32)).to(device)
        loss = _loss(selectors, batch, torch.from_numpy(prior[rows]).to(device), generator)
        take_step(optimizer, loss, when=f"in step {step + 1} of the kind gates")
        after_step()
    return KindGates(tuple(each.half().float().eval() for each in selectors))


def _loss(
    selectors: Sequence[Selector],
    vectors: Tensor,
    prior: Tensor,
    generator: np.random.Generator,
) -> Tensor:
    """Return the objective on a batch; the divergence is that of a random pair of kinds."""
    gates = [selector(vectors) for selector in selectors]
    loss = torch.stack([agreement(each, prior[:, k]) for k, each in enumerate(gates)]).sum()
    if len(gates) < 2:
        return loss
    pair = generator.choice(len(gates), size=2, replace=False).tolist()
    weight, divergence = _DIVERGENCE.term([gates[k] for k in pair])
    return loss + weight * divergence


def kind_scores(gates: KindGates, vectors: NDArray[np.float16] | Vectors) -> Vectors:
    """Return `gates.scores` as an array, computed in parts: (words, kinds)."""
    device = next(gates.selectors[0].parameters()).device
    parts = [np.zeros((0, len(gates.selectors)), dtype=np.float32)]
    for low in range(0, len(vectors), _WORDS_PER_PART):
        part = np.asarray(vectors[low : low + _WORDS_PER_PART], dtype=np.float32)
        rows = torch.from_numpy(part)
        parts.append(to_cpu(gates.scores(rows.to(device))).numpy())
    return np.concatenate(parts)
