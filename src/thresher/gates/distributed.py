"""Several processes that train one selector together, each encoding its share of every batch.

Started by `torchrun` or `accelerate launch`, all of them hold the same selectors and draw the same
random numbers. What costs is the encoder: each process encodes the sentences of its share, the
vectors of all sentences are then added up (each is zero where it is not its own), and so every
process has every negative of the contrast. The loss that each computes is that of the whole batch,
and the mean of their gradients is its gradient.
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
class ProcessGroup:
    """One of several processes; alone by default."""

    rank: int = 0
    count: int = 1

    @property
    def alone(self) -> bool:
        """Whether there are no others."""
        return self.count == 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and tells."""
        return self.rank == 0

    def share(self, things: int) -> tuple[int, int]:
        """Where this process's part of so many things begins and ends."""
        return things * self.rank // self.count, things * (self.rank + 1) // self.count

    def total(self, own: Tensor) -> Tensor:
        """The sum of what every process has, of one shape; differentiable in each of them.

        Its gradient is taken times the number of processes, since `average` divides by it.
        """
        if self.alone:
            return own
        summed: Tensor = _Total.apply(own, self.count)  # type: ignore[no-untyped-call]
        return summed

    def average(self, parameters: Iterable[Tensor]) -> None:
        """Put the mean of all processes' gradients in the place of each."""
        if self.alone:
            return
        every = list(parameters)
        own = [torch.zeros_like(each) if each.grad is None else each.grad for each in every]
        flat = torch.cat([gradient.flatten() for gradient in own])
        distributed.all_reduce(flat)
        at = 0
        for each in every:
            each.grad = (flat[at : at + each.numel()] / self.count).view_as(each)
            at += each.numel()

    def wait(self) -> None:
        """Until all are here."""
        if not self.alone:
            distributed.barrier()


ALONE = ProcessGroup()


class _Total(torch.autograd.Function):
    """Σ over processes. Each has the whole loss, so the way back needs no word from the others."""

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
def joined(device: str | None = None) -> Iterator[str | None]:
    """Join the processes that this one was started with, if any, until the block ends.

    yields: the device that is this process's own
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield device
        return
    try:
        from accelerate import PartialState  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise InputError(
            "several processes need accelerate: pip install 'thresher[train]'"
        ) from error
    own = PartialState(cpu=device == "cpu").device
    try:
        yield "cpu" if own.type == "cpu" else str(own)
    finally:
        distributed.destroy_process_group()


def these() -> ProcessGroup:
    """The processes that were joined; one alone if none were."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return ALONE
    return ProcessGroup(distributed.get_rank(), distributed.get_world_size())
