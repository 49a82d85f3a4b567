"""To a GPU and back, without waiting where that can be avoided, and asleep where it cannot."""

import torch
from torch import Tensor


def sent(values: Tensor, device: torch.device) -> Tensor:
    """The same on a device; a GPU fetches it from the CPU while this process goes on."""
    if device.type == "cuda" and values.device.type == "cpu":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def fetched(values: Tensor) -> Tensor:
    """The same on the CPU.

    `values.cpu()` would ask a GPU all the time whether it is done, and so take from the processes
    that share it the processor that they need to give it work.
    """
    if values.device.type != "cuda":
        return values.cpu()
    here = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    here.copy_(values, non_blocking=True)
    done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    done.record()
    done.synchronize()
    return here
