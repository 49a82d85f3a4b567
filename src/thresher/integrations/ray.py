"""Blocks through Ray Data: finders as actors, on the CPUs or GPUs of one machine or of many.

What travels through Ray is which block to do and what became of it; rows go from the files to an
actor and from it to a file. An actor that dies is started again by Ray, and its blocks are done
again; see `thresher.bulk.run` for why that is harmless.
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
from thresher.bulk.memory import FreedMemory, collect_seldom
from thresher.bulk.run import BulkRun, Done
from thresher.bulk.workers import told
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

# Read when Ray is imported or started: no messages home, no token file in the home folder.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class BlockFinder:
    """An actor: a finder that takes one block after the other, in a process of its own.

    What goes wrong here is part of the answer: Ray tells of an exception in pages, and of one in a
    constructor again and again.
    """

    def __init__(self, run: BulkRun) -> None:
        collect_seldom()
        self._run = run
        self._freed = FreedMemory()

    @cached_property
    def _finder(self) -> "EntityFinder":
        import torch  # noqa: PLC0415 (actors alone need it)

        torch.set_num_threads(1)
        return self._run.model.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """batch: blocks, written as JSON   returns: what became of each, likewise"""
        blocks = [Block(**json.loads(each)) for each in batch["block"]]
        return {"done": [json.dumps(self._done(block)) for block in blocks]}

    def _done(self, block: Block) -> dict[str, Any]:
        try:
            return asdict(self._run.do(self._finder, block))
        except Exception as error:
            return {"error": str(told(error))}
        finally:
            self._freed.give_back()


def find_in_blocks(
    run: BulkRun, blocks: Sequence[Block], *, workers: int | None = None
) -> Iterator[Done]:
    """Do the blocks in so many actors; by default one for each GPU, or else for each CPU.

    Ray is started here unless it runs already; RAY_ADDRESS names a cluster to use instead.
    """
    with _ray(workers) as ray:
        there = ray.cluster_resources()
        device = run.model.device or ("cuda" if there.get("GPU") else "cpu")
        gpus = there.get("GPU", 0.0) if device.startswith("cuda") else 0.0
        count = workers or max(1, int(gpus or there.get("CPU", 1)))
        run = replace(run, model=replace(run.model, device=device))
        items = [{"block": json.dumps(asdict(block))} for block in blocks]
        answers = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            BlockFinder,
            fn_constructor_args=(run,),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(count, len(items))),
            num_cpus=1,
            num_gpus=min(1.0, gpus / count) or None,
        )
        for row in answers.iter_rows():
            done = json.loads(row["done"])
            if "error" in done:
                raise InputError(done["error"])
            yield Done(**{**done, "problems": tuple(done["problems"])})


@contextmanager
def _ray(workers: int | None) -> Iterator[Any]:
    """Ray, started for this block if it was not running."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415 (an extra, slow to import)
        import ray.data  # noqa: PLC0415
    except ImportError as error:
        raise InputError("--engine ray needs Ray: pip install 'thresher[ray]'") from error
    ours = not ray.is_initialized()
    if ours:
        here: dict[str, Any] = {"num_cpus": _cpus(workers), "include_dashboard": False}
        with _hushed():
            ray.init(
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if "RAY_ADDRESS" in os.environ else here),
            )
    with warnings.catch_warnings(action="ignore"):  # its own settings are deprecated, it says
        context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


@contextmanager
def _hushed() -> Iterator[None]:
    """Ray tells on standard error that it was told to be silent. What it raises is heard."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _cpus(workers: int | None) -> int:
    """At least one for each worker, and one to spare: what feeds them must not wait for them."""
    return max(workers or 0, os.cpu_count() or 1) + 1
