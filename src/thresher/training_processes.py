"""The processes that train one model together, each with a copy of the model.

`torchrun` starts them, with GPUs one for each. They divide the work of a step, exchange gradients,
and all make the same update. Only the main process writes files.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed

from thresher.errors import InputError


@dataclass(frozen=True)
class Processes:
    """The processes of a training run: the number of this one, and how many there are."""

    rank: int = 0
    count: int = 1

    @property
    def is_single(self) -> bool:
        """Whether this is the only process."""
        return self.count == 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and reports progress."""
        return self.rank == 0

    def share(self, total: int) -> slice:
        """Return which of `total` items belong to this process."""
        return slice(self.rank * total // self.count, (self.rank + 1) * total // self.count)

    def sum(self, own: Tensor) -> Tensor:
        """Return the sum of `own` over all processes; differentiable in the tensor of each process.

        The gradient is multiplied by the number of processes, because `average_gradients` divides
        by it.
        """
        if self.is_single:
            return own
        summed: Tensor = _Sum.apply(own, self.count)  # type: ignore[no-untyped-call]
        return summed

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its sum over all processes, in one exchange for each dtype."""
        if self.is_single:
            return
        by_dtype: dict[torch.dtype, list[Tensor]] = {}
        for tensor in tensors:
            by_dtype.setdefault(tensor.dtype, []).append(tensor)
        for group in by_dtype.values():
            flat = torch.cat([tensor.flatten() for tensor in group])
            distributed.all_reduce(flat)
            sums = torch.split(flat, [tensor.numel() for tensor in group])
            for tensor, part in zip(group, sums, strict=True):
                tensor.copy_(part.view_as(tensor))

    def add_up_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace the gradient of each parameter by its sum over all processes."""
        if not self.is_single:
            self.add_up(_gradients(parameters))

    def average_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace the gradient of each parameter by its mean over all processes."""
        if self.is_single:
            return
        gradients = _gradients(parameters)
        self.add_up(gradients)
        for gradient in gradients:
            gradient.div_(self.count)

    def wait(self) -> None:
        """Wait until all processes have called this."""
        if not self.is_single:
            distributed.barrier()

    @contextmanager
    def main_first(self) -> Iterator[bool]:
        """Run the block in the main process, then in the others; yields whether it is the main one.

        The main process prepares files that the others then find.
        """
        if not self.is_main:
            self.wait()
        yield self.is_main
        if self.is_main:
            self.wait()


SINGLE_PROCESS = Processes()


@contextmanager
def join_processes(device: torch.device | str) -> Iterator[tuple[Processes, torch.device]]:
    """Connect the processes that `torchrun` started, if any, until the block ends.

    yields: the processes, and the device of this one: with GPUs, each process has one of its own
    """
    device, count = torch.device(device), int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield SINGLE_PROCESS, device
        return
    if device.type == "cuda":
        local = int(os.environ["LOCAL_RANK"])
        if local >= torch.cuda.device_count():
            raise InputError(
                f"there are more processes than GPUs ({torch.cuda.device_count()}); start as many "
                "processes as there are GPUs, or use the device cpu"
            )
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), count), device
    finally:
        distributed.destroy_process_group()


def _gradients(parameters: Iterable[Tensor]) -> list[Tensor]:
    """Return the gradients; that of a parameter which this process did not use becomes zero."""
    gradients = []
    for each in parameters:
        if each.grad is None:
            each.grad = torch.zeros_like(each)
        gradients.append(each.grad)
    return gradients


class _Sum(torch.autograd.Function):
    """Sum over processes. Each computes the whole loss, so the backward pass is local."""

    @staticmethod
    def forward(context: Any, own: Tensor, count: int) -> Tensor:
        context.count = count
        summed = own.clone()
        distributed.all_reduce(summed)
        return summed

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0] * context.count, None


def current_processes() -> Processes:
    """Return the processes that `join_processes` has connected, or this one alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return SINGLE_PROCESS
    return Processes(distributed.get_rank(), distributed.get_world_size())
