"""Prepare the batches of training steps; on a GPU, a thread prepares the next step."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.training.batches import IGNORED, Batch, Task, WeightedPart
from thresher.lm.training.settings import LanguageModelSettings
from thresher.training_processes import SINGLE_PROCESS, Processes


class StepBatches(NamedTuple):
    """The batches that this process computes in a step.

    batches: of at most `settings.batch` windows each
    predicted: the number of positions to predict in the whole step, by all processes
    """

    batches: list[Batch]
    predicted: int


@dataclass(frozen=True)
class StepWindows:
    """Draws the windows of each step from token ids, which may be in a file.

    ids: (tokens,), on the CPU
    """

    task: Task
    ids: Tensor
    settings: LanguageModelSettings
    parts: Sequence[WeightedPart] = ()
    processes: Processes = SINGLE_PROCESS

    def __post_init__(self) -> None:
        windows, processes = self.settings.windows, self.processes.count
        if windows < processes:
            raise InputError(
                f"a step has {windows} windows (`batch` × `accumulate`) for {processes} processes, "
                "but each process needs at least one; choose a larger `batch` or fewer processes"
            )

    def at(self, step: int) -> StepBatches:
        """Return the batches of a step; seed and step determine them."""
        settings = self.settings
        whole = self.task.training_batch(
            self.ids, size=settings.windows, seed=settings.seed, step=step, parts=self.parts
        )
        predicted = max(1, int((whole.target != IGNORED).sum()))
        mine = self.processes.share(settings.windows)
        inputs, targets = (torch.split(each[mine], settings.batch) for each in whole)
        return StepBatches([Batch(*pair) for pair in zip(inputs, targets, strict=True)], predicted)


class BatchLoader:
    """Loads the batches of each step onto the device.

    ahead: whether a thread reads and copies the batches of the next step while this one runs; by
        default on a GPU
    """

    def __init__(
        self, windows: StepWindows, device: torch.device, *, ahead: bool | None = None
    ) -> None:
        self._windows, self._device = windows, device
        ahead = device.type == "cuda" if ahead is None else ahead
        self._thread = ThreadPoolExecutor(1) if ahead else None
        self._next: tuple[int, Future[StepBatches]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def load(self, step: int) -> StepBatches:
        """Return the batches of a step on the device."""
        if self._thread is None:
            ready = self._windows.at(step)
        else:
            if self._next is None or self._next[0] != step:
                self._next = step, self._thread.submit(self._prepare, step)
            ready = self._next[1].result()
            self._next = step + 1, self._thread.submit(self._prepare, step + 1)
        moved = [
            Batch(*(each.to(self._device, non_blocking=True) for each in batch))
            for batch in ready.batches
        ]
        return ready._replace(batches=moved)

    def _prepare(self, step: int) -> StepBatches:
        """Draw the batches into page-locked memory, from which a GPU copies in the background."""
        ready = self._windows.at(step)
        if self._device.type != "cuda":
            return ready
        pinned = [
            Batch(*(each.contiguous().pin_memory() for each in batch)) for batch in ready.batches
        ]
        return ready._replace(batches=pinned)
