"""Save and load checkpoints of a language model's training."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import torch

from thresher.array_files import with_prefix, without_prefix
from thresher.checkpoint_files import read_checkpoint, write_checkpoint
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState

_WEIGHTS, _BEST, _ROLES = "weights.", "best.", "roles."
_NUMBERS = ("step", "best_step", "best_loss", "log")
_CHUNK = 1 << 17  # ids that are converted to int64 at a time


def run_fingerprint(
    state: TrainingState, data: TrainingData, settings: LanguageModelSettings
) -> str:
    """Return a hash of the architecture, the settings and the token ids of a run."""
    configuration = [asdict(state.model.architecture), settings.as_dict(), *data.parts]
    digest = hashlib.sha256(json.dumps(configuration, sort_keys=True).encode())
    for ids in (data.train, data.validation):
        for chunk in torch.split(
            ids, _CHUNK
        ):  # ids may be in a file: there is no copy of all of them
            digest.update(chunk.cpu().long().contiguous().numpy().data)
    return digest.hexdigest()


def save_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Write the state of the run with that fingerprint, atomically."""
    tensors = with_prefix(_WEIGHTS, state.model.weights()) | with_prefix(_BEST, state.best)
    if state.roles is not None:
        tensors |= {_ROLES + name: getattr(state.roles, name) for name in ROLES}
    numbers = {name: getattr(state, name) for name in _NUMBERS}
    write_checkpoint(path, tensors, state.optimizer, numbers, fingerprint=fingerprint)


def load_checkpoint(path: Path, state: TrainingState, fingerprint: str) -> None:
    """Copy the saved state of a stopped run into a new state; without a file, change nothing."""
    saved = read_checkpoint(path, state.optimizer, fingerprint=fingerprint)
    if saved is None:
        return
    tensors, numbers = saved
    state.model.load_weights(without_prefix(_WEIGHTS, tensors))
    state.best = without_prefix(_BEST, tensors)
    if state.roles is not None:
        for name, value in without_prefix(_ROLES, tensors).items():
            getattr(state.roles, name).copy_(value)
    for name, value in numbers.items():
        setattr(state, name, value)
