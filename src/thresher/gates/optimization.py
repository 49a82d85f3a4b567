"""Seeds, optimizer, learning-rate schedule and gradient step, for every loop that trains gates."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from thresher.errors import TrainingError
from thresher.training_processes import SINGLE_PROCESS, Processes


def adamw(modules: Iterable[nn.Module], *, learning_rate: float, weight_decay: float) -> AdamW:
    """Return an AdamW optimizer of all parameters of some modules."""
    parameters = [each for module in modules for each in module.parameters()]
    return AdamW(parameters, lr=learning_rate, weight_decay=weight_decay)


def set_learning_rate(optimizer: Optimizer, *, step: int, steps: int, warm_up: int) -> None:
    """Scale the initial learning rates for a step: linear warm-up, then linear decay to zero.

    step: counted from 0   warm_up: how many steps the warm-up takes
    """
    factor = min(1.0, (step + 1) / warm_up) * (1 - step / steps)
    for group in optimizer.param_groups:
        group["lr"] = group.setdefault("initial_lr", group["lr"]) * factor


def take_step(
    optimizer: Optimizer,
    loss: Tensor,
    *,
    when: str,
    max_gradient_norm: float | None = None,
    processes: Processes = SINGLE_PROCESS,
) -> None:
    """Update the parameters of an optimizer by the gradient of a loss.

    when: where training stands, for the error message: "in epoch 3"
    max_gradient_norm: the norm that the gradient of each parameter group is clipped to
    processes: those whose gradients are averaged
    """
    value = float(loss.detach())
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "infinite"
        raise TrainingError(
            f"the loss became {name} {when}; try a lower learning rate or smaller weights of the "
            "terms of the loss"
        )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    groups = [group["params"] for group in optimizer.param_groups]
    processes.average_gradients(each for group in groups for each in group)
    if max_gradient_norm is not None:
        for group in groups:
            nn.utils.clip_grad_norm_(group, max_gradient_norm)
    optimizer.step()


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Seed torch's global generators inside the block, and restore their states after it.

    device: a GPU whose generator is used as well
    """
    on_gpu = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        torch.manual_seed(seed)
        yield
