"""Training states on disk, as tensors and plain text: no pickle."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.nn import ModuleList

from thresher.entities.training import TrainingState
from thresher.errors import InputError
from thresher.folders import write_file

_WEIGHTS, _MOMENTS = "selectors.", "moments."


def save_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Write the state after an epoch; `mark` tells which run it belongs to."""
    tensors = {
        _WEIGHTS + name: value for name, value in ModuleList(state.selectors).state_dict().items()
    }
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= {f"{_MOMENTS}{number}.{name}": value for name, value in moments.items()}
    numbers = {
        "epoch": state.epoch,
        "sparsity_weights": state.sparsity_weights,
        "rate_errors": state.rate_errors,
    }
    content = save(
        {name: value.detach().cpu().contiguous() for name, value in tensors.items()},
        metadata={"mark": mark, "numbers": json.dumps(numbers)},
    )
    write_file(path, content)


def load_checkpoint(path: Path, state: TrainingState, mark: str) -> None:
    """Bring a new state to where a stopped run was; a run stopped before any epoch starts anew."""
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
    weights: dict[str, Tensor] = {}
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith(_WEIGHTS):
            weights[name.removeprefix(_WEIGHTS)] = value
        else:
            number, _, moment = name.removeprefix(_MOMENTS).partition(".")
            moments.setdefault(int(number), {})[moment] = value
    ModuleList(state.selectors).load_state_dict(weights)
    groups = state.optimizer.state_dict()["param_groups"]
    state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
