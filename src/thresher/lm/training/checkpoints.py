"""The states of a language model's training, put down and taken up again."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from thresher.checkpoint_files import (
    load_optimizer_tensors,
    optimizer_tensors,
    read_checkpoint,
    with_prefix,
    without_prefix,
    write_checkpoint,
)
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.training.loop import TrainingData, TrainingState
from thresher.lm.training.settings import LanguageModelSettings

_WEIGHTS, _BEST, _MOMENTS, _ROLES = "weights.", "best.", "moments.", "roles."
_NUMBERS = ("step", "best_step", "best_loss", "log")


def run_mark(state: TrainingState, data: TrainingData, settings: LanguageModelSettings) -> str:
    """What tells one run from another: the model's make, the settings, and the tokens it reads."""
    made = [asdict(state.model.architecture), settings.as_dict(), *data.parts]
    said = json.dumps(made, sort_keys=True)
    digest = hashlib.sha256(said.encode())
    for ids in (data.train, data.validation):
        digest.update(ids.cpu().contiguous().numpy().data)  # no copy: they may be on the disk
    return digest.hexdigest()


def save_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Write the state, whole or not at all; `mark` tells which run it belongs to."""
    tensors = with_prefix(_WEIGHTS, state.model.weights()) | with_prefix(_BEST, state.best)
    tensors |= with_prefix(_MOMENTS, optimizer_tensors(state.optimizer))
    if state.roles is not None:
        tensors |= {_ROLES + name: getattr(state.roles, name) for name in ROLES}
    write_checkpoint(
        path, tensors, {name: getattr(state, name) for name in _NUMBERS}, fingerprint=mark
    )


def load_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Bring a new state to where a stopped run was; one stopped before any file starts anew."""
    found = read_checkpoint(path, fingerprint=mark)
    if found is None:
        return
    tensors, numbers = found
    state.model.load_weights(without_prefix(_WEIGHTS, tensors))
    state.best = without_prefix(_BEST, tensors)
    load_optimizer_tensors(state.optimizer, without_prefix(_MOMENTS, tensors))
    if state.roles is not None:
        for name, value in without_prefix(_ROLES, tensors).items():
            getattr(state.roles, name).copy_(value)
    for name, value in numbers.items():
        setattr(state, name, value)
