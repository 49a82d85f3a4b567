"""Train in several processes that `torchrun` starts, one for each GPU.

All processes hold the same model. Each computes the gradients of its part of a step's windows; the
gradients are added up, and all processes make the same update. Only the first one writes files.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import distributed

from thresher.errors import InputError
from thresher.training_processes import Processes


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
