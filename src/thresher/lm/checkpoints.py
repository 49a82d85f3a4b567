"""Training states on disk, in one file of tensors and plain text: no pickle."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from thresher.errors import InputError
from thresher.folders import write_file
from thresher.lm.gradients import ROLES
from thresher.lm.settings import TrainingSettings
from thresher.lm.training import TrainingData, TrainingState

_WEIGHTS, _BEST, _MOMENTS, _ROLES = "weights.", "best.", "moments.", "roles."
_NUMBERS = ("step", "best_step", "best_loss", "log")


def run_mark(state: TrainingState, data: TrainingData, settings: TrainingSettings) -> str:
    """What tells one run from another: the model's make, the settings, and the tokens it reads."""
    said = json.dumps([asdict(state.model.architecture), asdict(settings)], sort_keys=True)
    digest = hashlib.sha256(said.encode())
    for ids in (data.train, data.validation):
        digest.update(ids.cpu().numpy().tobytes())
    return digest.hexdigest()


def save_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Write the state, whole or not at all; `mark` tells which run it belongs to."""
    tensors = {_WEIGHTS + name: value for name, value in state.model.weights().items()}
    tensors |= {_BEST + name: value for name, value in state.best.items()}
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"{_MOMENTS}{number}.{name}": value for name, value in moments.items()}
    if state.roles is not None:
        tensors |= {_ROLES + name: getattr(state.roles, name) for name in ROLES}
    numbers = {name: getattr(state, name) for name in _NUMBERS}
    content = save(
        {name: value.detach().cpu().contiguous() for name, value in tensors.items()},
        metadata={"mark": mark, "numbers": json.dumps(numbers)},
    )
    write_file(path, content)


def load_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Bring a new state to where a stopped run was; one stopped before any file starts anew."""
    if not path.is_file():
        return
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"cannot resume from {path}: {error}") from error
    if metadata.get("mark") != mark:
        raise InputError(f"cannot resume from {path}: it was begun with other text or settings")
    _restore(state, tensors)
    for name, value in json.loads(metadata["numbers"]).items():
        setattr(state, name, value)


def _restore(state: TrainingState, tensors: dict[str, Tensor]) -> None:
    state.model.load_weights(tensors_under(_WEIGHTS, tensors))
    state.best = tensors_under(_BEST, tensors)
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors_under(_MOMENTS, tensors).items():
        number, _, moment = name.partition(".")
        moments.setdefault(int(number), {})[moment] = value
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    if state.roles is not None:
        for name, value in tensors_under(_ROLES, tensors).items():
            getattr(state.roles, name).copy_(value)


def tensors_under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
