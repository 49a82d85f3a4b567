"""Train in several processes that `torchrun` starts, one for each GPU.

All processes hold the same model. Each computes the gradients of its part of a step's windows; the
gradients are added up, and all processes make the same update. Only the first one writes files.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from thresher.errors import InputError


@dataclass(frozen=True)
class Processes:
    """The processes of a training run: the number of this one, and how many there are."""

    rank: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def share(self, total: int) -> slice:
        """Return which of `total` windows this process computes."""
        return slice(self.rank * total // self.count, (self.rank + 1) * total // self.count)

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its sum over all processes, in one exchange for each dtype."""
        if self.count == 1:
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

    def add_up_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up the gradients; a parameter that a process did not use has a gradient of zero."""
        if self.count == 1:
            return
        used = list(parameters)
        for each in used:
            if each.grad is None:
                each.grad = torch.zeros_like(each)
        self.add_up(each.grad for each in used if each.grad is not None)

    def wait(self) -> None:
        """Wait until all processes have arrived here."""
        if self.count > 1:
            distributed.barrier()

    @contextmanager
    def main_first(self) -> Iterator[bool]:
        """Run the block in the first process, then in the others; yields whether it is the first.

        The first process prepares files that the others then find.
        """
        if not self.is_main:
            self.wait()
        yield self.is_main
        if self.is_main:
            self.wait()


@contextmanager
def started_processes(device: torch.device | str) -> Iterator[tuple[Processes, torch.device]]:
    """Connect the processes that `torchrun` started; without it there is only this one.

    yields: the processes, and the device of this one: with GPUs, each process has one of its own
    """
    device, count = torch.device(device), int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes(), device
        return
    if device.type == "cuda":
        local = int(os.environ["LOCAL_RANK"])
        if local >= torch.cuda.device_count():
            raise InputError(
                f"there are {torch.cuda.device_count()} GPUs for more processes; start as many "
                "processes as there are GPUs, or use the device cpu"
            )
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), count), device
    finally:
        distributed.destroy_process_group()
