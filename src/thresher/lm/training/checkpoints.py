"""Save and load the checkpoints of a language model that is being trained."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
        # The ids may be in a file that is larger than memory: only chunks are converted.
        for chunk in torch.split(ids, _CHUNK):
            digest.update(chunk.cpu().long().contiguous().numpy().data)
    return digest.hexdigest()


def _run_settings(state: TrainingState, settings: LanguageModelSettings) -> dict[str, Any]:
    """Return the settings of a run by the names of their arguments, without the vocabulary.

    They tell a user why a run cannot be resumed; the vocabulary differs if the text does.
    """
    architecture = state.model.architecture
    shape, training = asdict(architecture.shape), settings.as_dict()
    return {
        "objective": shape.pop("causal"),
        "output_layer": architecture.output,
        "tied=False": not architecture.tied,
        "decay_embeddings=False": not training.pop("decay_embeddings"),
        **shape,
        **training,
    }


def save_checkpoint(
    path: Path,
    state: TrainingState,
    fingerprint: str,
    settings: LanguageModelSettings | None = None,
) -> None:
    """Write the state of the run with that fingerprint, atomically.

    settings: for the message if another run tries to resume this one
    """
    tensors = with_prefix(_WEIGHTS, state.model.weights()) | with_prefix(_BEST, state.best)
    if state.roles is not None:
        tensors |= {_ROLES + name: getattr(state.roles, name) for name in ROLES}
    numbers = {name: getattr(state, name) for name in _NUMBERS}
    own = None if settings is None else _run_settings(state, settings)
    write_checkpoint(path, tensors, state.optimizer, numbers, fingerprint=fingerprint, settings=own)


def load_checkpoint(
    path: Path,
    state: TrainingState,
    fingerprint: str,
    settings: LanguageModelSettings | None = None,
) -> None:
    """Copy the saved state of a stopped run into a new state; without a file, change nothing."""
    own = None if settings is None else _run_settings(state, settings)
    saved = read_checkpoint(path, state.optimizer, fingerprint=fingerprint, settings=own)
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
