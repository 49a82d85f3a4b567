"""Train one selector with several processes, each of which encodes a part of every batch.

The processes are started by `torchrun` or `accelerate launch`. All of them hold the same selectors
and draw the same random numbers. Only the encoding, which takes most of the time, is divided: each
process encodes its own sentences and leaves zeros for the others, and the sum over processes gives
every process the vectors of the whole batch. So each of them computes the loss of the whole batch
with all negatives of the contrast, and the mean of their gradients is the gradient of that loss.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed

from thresher.errors import requires_extra


@dataclass(frozen=True)
class ProcessGroup:
    """The processes that train together; `rank` is the number of this one."""

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

    def own_range(self, items: int) -> tuple[int, int]:
        """Return the start and the end of this process's part of `items` items."""
        return items * self.rank // self.count, items * (self.rank + 1) // self.count

    def sum(self, own: Tensor) -> Tensor:
        """Return the sum of `own` over all processes; differentiable in the tensor of each process.

        The gradient is multiplied by the number of processes, because `average_gradients` divides
        by it.
        """
        if self.is_single:
            return own
        summed: Tensor = _Sum.apply(own, self.count)  # type: ignore[no-untyped-call]
        return summed

    def average_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace the gradient of each parameter by its mean over all processes."""
        if self.is_single:
            return
        parameters = list(parameters)
        own = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
        flat = torch.cat([gradient.flatten() for gradient in own])
        distributed.all_reduce(flat)
        start = 0
        for each in parameters:
            each.grad = (flat[start : start + each.numel()] / self.count).view_as(each)
            start += each.numel()

    def wait(self) -> None:
        """Wait until all processes have called this."""
        if not self.is_single:
            distributed.barrier()


SINGLE_PROCESS = ProcessGroup()


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


@contextmanager
def join_processes(device: str | None = None) -> Iterator[str | None]:
    """Join the processes that were launched together, if any, until the block ends.

    yields: the device of this process
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield device
        return
    with requires_extra("train", "several processes need accelerate"):
        from accelerate import PartialState  # noqa: PLC0415 (an extra)
    own_device = PartialState(cpu=device == "cpu").device
    try:
        yield "cpu" if own_device.type == "cpu" else str(own_device)
    finally:
        distributed.destroy_process_group()


def current_processes() -> ProcessGroup:
    """Return the processes that were joined, or a group of one."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return SINGLE_PROCESS
    return ProcessGroup(distributed.get_rank(), distributed.get_world_size())
