"""Train one selector with several processes, each of which encodes a part of every batch.

The processes are started by `torchrun` or `accelerate launch`. All of them hold the same selectors
and draw the same random numbers. Only the encoding, which takes most of the time, is divided: each
process encodes its own sentences and leaves zeros for the others, and the sum over processes gives
every process the vectors of the whole batch. So each of them computes the loss of the whole batch
with all negatives of the contrast, and the mean of their gradients is the gradient of that loss.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from torch import distributed

from thresher.errors import requires_extra
from thresher.training_processes import SINGLE_PROCESS, Processes


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


def current_processes() -> Processes:
    """Return the processes that were joined, or this one alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return SINGLE_PROCESS
    return Processes(distributed.get_rank(), distributed.get_world_size())
