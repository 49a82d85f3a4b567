"""Move tensors to a GPU and back without blocking or busy-waiting where possible."""

import torch
from torch import Tensor


def to_device(values: Tensor, device: torch.device) -> Tensor:
    """Return the tensor on a device; a copy from the CPU to a GPU is asynchronous."""
    if device.type == "cuda" and values.device.type == "cpu":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def to_cpu(values: Tensor) -> Tensor:
    """Return the tensor on the CPU.

    `values.cpu()` would poll a GPU until it is done, and take CPU time from the processes that
    share the GPU and have to feed it. Here the process sleeps until the copy is done.
    """
    if values.device.type != "cuda":
        return values.cpu()
    copied = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    copied.copy_(values, non_blocking=True)
    done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    done.record()
    done.synchronize()
    return copied
