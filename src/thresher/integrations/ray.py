"""Process blocks with Ray Data: finders are actors on the CPUs or GPUs of one or many machines.

Only blocks and their results are sent through Ray; an actor reads the rows from the files and
writes its part itself. Ray restarts an actor that dies and repeats its blocks, which is harmless
(see `thresher.bulk.run`).
"""

import json
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thresher.bulk.blocks import Block
from thresher.bulk.memory import MemoryTrimmer, collect_garbage_rarely
from thresher.bulk.run import BlockResult, BulkRun
from thresher.bulk.workers import check_worker_count, picklable_error
from thresher.errors import InputError, WorkerError, requires_extra

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import TextFinder

# Ray uses these when it is imported or started: no telemetry, no token file in the home folder.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class BlockFinder:
    """A Ray actor that processes one block after the other in its own process.

    Errors are returned as results, because Ray reports an exception in pages of text, and one in a
    constructor again and again.
    """

    def __init__(self, run: BulkRun) -> None:
        collect_garbage_rarely()
        self._run = run
        self._memory = MemoryTrimmer()

    @cached_property
    def _finder(self) -> "TextFinder":
        import torch  # noqa: PLC0415 (only actors need it)

        torch.set_num_threads(1)
        return self._run.finder_choice.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Process blocks, given as JSON, and return the result of each as JSON."""
        blocks = [Block(**json.loads(each)) for each in batch["block"]]
        return {"result": [json.dumps(self._process(block)) for block in blocks]}

    def _process(self, block: Block) -> dict[str, Any]:
        try:
            return asdict(self._run.process(self._finder, block))
        except Exception as error:
            reported = picklable_error(error)
            return {"error": str(reported), "is_input_error": isinstance(reported, InputError)}
        finally:
            self._memory.trim()


def find_in_blocks(
    run: BulkRun, blocks: Sequence[Block], *, workers: int | None = None
) -> Iterator[BlockResult]:
    """Process blocks with Ray actors and yield their results as they are done.

    Ray is started here unless it is already running; RAY_ADDRESS names a cluster to use instead.

    workers: the number of actors; by default one for each GPU, or else for each CPU
    """
    with _ray(workers) as ray:
        resources = ray.cluster_resources()
        device = run.finder_choice.device or ("cuda" if resources.get("GPU") else "cpu")
        gpus = resources.get("GPU", 0.0) if device.startswith("cuda") else 0.0
        count = workers or max(1, int(gpus or resources.get("CPU", 1)))
        run = replace(run, finder_choice=replace(run.finder_choice, device=device))
        items = [{"block": json.dumps(asdict(block))} for block in blocks]
        rows = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            BlockFinder,
            fn_constructor_args=(run,),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(count, len(items))),
            num_cpus=1,
            num_gpus=min(1.0, gpus / count) or None,
        )
        try:
            for row in rows.iter_rows():
                yield _block_result(json.loads(row["result"]))
        except ray.exceptions.RayError as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise WorkerError(
                f"Ray could not finish the blocks: {reason}; if memory ran out, try fewer `workers`"
            ) from error


def _block_result(result: dict[str, Any]) -> BlockResult:
    if "error" in result:
        raise (InputError if result["is_input_error"] else WorkerError)(result["error"])
    return BlockResult(**{**result, "problems": tuple(result["problems"])})


@contextmanager
def _ray(workers: int | None) -> Iterator[Any]:
    """Import Ray and, if it is not running, start it for the `with` block."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with requires_extra("ray", "processing with Ray needs ray"):
        import ray  # noqa: PLC0415 (an extra, slow to import)
        import ray.data  # noqa: PLC0415
    started_here = not ray.is_initialized()
    if started_here:
        if workers is not None and "RAY_ADDRESS" not in os.environ:
            check_worker_count(workers)
        local: dict[str, Any] = {"num_cpus": _cpus(workers), "include_dashboard": False}
        with _no_standard_error():
            ray.init(
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if "RAY_ADDRESS" in os.environ else local),
            )
    with warnings.catch_warnings(action="ignore"):  # of deprecated settings that Ray uses itself
        context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        if started_here:
            ray.shutdown()


@contextmanager
def _no_standard_error() -> Iterator[None]:
    """Discard standard error: Ray writes there even with all logging off. Exceptions still pass."""
    original, discard = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(discard, 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
        os.close(discard)


def _cpus(workers: int | None) -> int:
    """Return the CPUs to request: one for each worker, and one for the tasks that feed them."""
    return max(workers or 0, os.cpu_count() or 1) + 1
