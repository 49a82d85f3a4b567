"""The states of a finder's training, put down and taken up again."""

from pathlib import Path

from torch.nn import ModuleList

from thresher.checkpoint_files import (
    load_optimizer_tensors,
    optimizer_tensors,
    read_checkpoint,
    with_prefix,
    without_prefix,
    write_checkpoint,
)
from thresher.entities.training.state import TrainingState

_WEIGHTS, _MOMENTS, _NOISE = "selectors.", "moments.", "noise"
_NUMBERS = ("epoch", "step", "sparsity_weights", "rate_errors", "sums", "seen", "selected")


def save_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Write the state after a step; `mark` tells which run it belongs to."""
    tensors = with_prefix(_WEIGHTS, ModuleList(state.selectors).state_dict())
    tensors |= with_prefix(_MOMENTS, optimizer_tensors(state.optimizer))
    if state.noise is not None:
        tensors[_NOISE] = state.noise
    write_checkpoint(
        path, tensors, {name: getattr(state, name) for name in _NUMBERS}, fingerprint=mark
    )


def load_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Bring a new state to where a stopped run was; without a file it stays at the start."""
    found = read_checkpoint(path, fingerprint=mark)
    if found is None:
        return
    tensors, numbers = found
    ModuleList(state.selectors).load_state_dict(without_prefix(_WEIGHTS, tensors))
    load_optimizer_tensors(state.optimizer, without_prefix(_MOMENTS, tensors))
    state.noise = tensors.get(_NOISE)
    for name, value in numbers.items():
        setattr(state, name, value)
