"""Measure time and memory of a forward and a backward pass on a GPU, and the time by kernel."""

from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.kernel.cases import Case

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]

# The kernels of thresher.lm.losses.kernels, and what they do.
PARTS = {
    "record_kernel": "record survivors",
    "_update_quotas": "allocate space for survivors",
    "target_logits_kernel": "target logits",
    "_gather_sums": "gather rows with few survivors",
    "_list_rows": "list rows with few survivors",
    "_take": "collect frequent tokens",
    "_full_rows": "gradients of recomputed rows",
    "_heavy_rows": "gradients of rows with many survivors",
}


def timed(work: Callable[[], object], *, repeats: int = 10) -> float:
    """Return the median time in milliseconds, measured by CUDA events in a full queue."""
    for _ in range(3):  # compilation and warm-up
        work()
    torch.cuda.synchronize()
    pairs = [(event(), event()) for _ in range(repeats)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    times: list[float] = [begin.elapsed_time(end) for begin, end in pairs]
    return median(times)


def event() -> torch.cuda.Event:
    """Return a CUDA event that records its time."""
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def peak_mib(work: Callable[[], object]) -> float:
    """Return the peak memory beyond what was allocated before, in MiB."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def measure(loss: Loss, case: Case, *, repeats: int = 10) -> dict[str, float]:
    """Measure the forward pass alone and with both gradients: milliseconds, and peak MiB."""
    input, weight = case.input.requires_grad_(), case.weight.requires_grad_()

    def forward() -> Tensor:
        return loss(input, weight, case.target)

    def both() -> tuple[Tensor, ...]:
        return torch.autograd.grad(forward(), (input, weight))

    return {
        "total_ms": timed(both, repeats=repeats),
        "forward_ms": timed(forward, repeats=repeats),
        "peak_mib": peak_mib(both),
        "loss": forward().item(),
    }


def parts(loss: Loss, case: Case) -> dict[str, float]:
    """Return the milliseconds on the device by kernel, forward and backward separately."""
    input, weight = case.input.requires_grad_(), case.weight.requires_grad_()
    with profile(activities=[ProfilerActivity.CUDA]) as first:
        value = loss(input, weight, case.target)
        torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as second:
        torch.autograd.grad(value, (input, weight))
        torch.cuda.synchronize()
    return _by_part(first, "forward") | _by_part(second, "backward")


def _by_part(recorded: profile, stage: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for event in recorded.key_averages():
        name = next((part for key, part in PARTS.items() if event.key == key), "other")
        if any(word in event.key for word in ("gemm", "nvjet", "cutlass")):
            name = "matrix products"
        key = f"{stage}: {name}"
        found[key] = found.get(key, 0) + event.self_device_time_total / 1e3
    return found


def product_ms(case: Case) -> float:
    """Return the milliseconds of one matrix product of the case, with a result of its dtype."""
    input, weight = case.input.detach(), case.weight.detach()
    out = torch.empty(len(input), len(weight), dtype=input.dtype, device=input.device)
    return timed(lambda: torch.mm(input, weight.T, out=out))


def machine() -> dict[str, Any]:
    """Return the device and the version of torch."""
    return {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
