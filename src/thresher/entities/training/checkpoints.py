"""Save and load the state of a run that trains selectors."""

from pathlib import Path

from torch.nn import ModuleList

from thresher.array_files import with_prefix, without_prefix
from thresher.checkpoint_files import read_checkpoint, write_checkpoint
from thresher.entities.training.state import TrainingState

_WEIGHTS, _GENERATOR = "selectors.", "noise"
# Attributes of the state by their names in the file.
_NUMBERS = {
    "epoch": "epoch",
    "step": "step",
    "sums": "term_sums",
    "seen": "term_counts",
    "selected": "selected_sums",
}


def save_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Write the state after a step; the fingerprint identifies the run it belongs to."""
    tensors = with_prefix(_WEIGHTS, ModuleList(state.selectors).state_dict())
    if state.generator_state is not None:
        tensors[_GENERATOR] = state.generator_state
    numbers = {name: getattr(state, attribute) for name, attribute in _NUMBERS.items()}
    numbers["sparsity_weights"] = [each.weight for each in state.sparsity_weights]
    numbers["rate_errors"] = [each.average for each in state.sparsity_weights]
    write_checkpoint(path, tensors, state.optimizer, numbers, fingerprint=fingerprint)


def load_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Restore the state of a stopped run; without a file the state is unchanged."""
    checkpoint = read_checkpoint(path, state.optimizer, fingerprint=fingerprint)
    if checkpoint is None:
        return
    tensors, numbers = checkpoint
    ModuleList(state.selectors).load_state_dict(without_prefix(_WEIGHTS, tensors))
    state.generator_state = tensors.get(_GENERATOR)
    for name, attribute in _NUMBERS.items():
        setattr(state, attribute, numbers[name])
    pairs = zip(numbers["sparsity_weights"], numbers["rate_errors"], strict=True)
    for term_weight, (weight, average) in zip(state.sparsity_weights, pairs, strict=True):
        term_weight.weight, term_weight.average = weight, average
