"""Train one selector with several processes, each of which encodes a part of every batch.

All processes hold the same selectors and draw the same random numbers. Only the encoding, which
takes most of the time, is divided: each process encodes its own sentences and leaves zeros for the
others, and the sum over processes gives every process the vectors of the whole batch. So each of
them computes the loss of the whole batch with all negatives of the contrast, and the mean of their
gradients is the gradient of that loss.
"""

from torch import distributed

from thresher.training_processes import SINGLE_PROCESS, Processes


def current_processes() -> Processes:
    """Return the processes that `join_processes` has connected, or this one alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return SINGLE_PROCESS
    return Processes(distributed.get_rank(), distributed.get_world_size())
