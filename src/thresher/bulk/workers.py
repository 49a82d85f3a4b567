"""Run tasks on chunks: with one finder in this process, or in several worker processes.

Each worker process loads its own finder. A thread in this process sends it one task after the other
and waits for the results. Results are returned in the order of the chunks, and at most
`CHUNKS_PER_WORKER` chunks per worker are in progress, however long the input is.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol, TypeVar

from thresher.bulk.chunks import Chunk
from thresher.bulk.memory import MemoryTrimmer, collect_garbage_rarely
from thresher.errors import InputError, WorkerError
from thresher.validation import require_number

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import TextFinder

T = TypeVar("T")
Load = Callable[[], "TextFinder"]
Task = Callable[["TextFinder", Chunk], T]

CHUNKS_PER_WORKER = 2  # in progress: one being processed, one waiting
_MOST_PER_CORE = 4  # each worker has a copy of the model: 10,000 of them would fill the memory


class FinderPool(Protocol):
    """One or more finders that run a task on chunks."""

    @property
    def lacks_int8(self) -> bool:
        """True if the model can run in int8 on a CPU, but this CPU cannot."""
        ...

    def map(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Yield every chunk with the result of the task, in order and lazily."""
        ...


@dataclass(frozen=True)
class LocalFinder:
    """A finder in this process."""

    finder: "TextFinder"

    @property
    def lacks_int8(self) -> bool:
        """True if the model can run in int8 on a CPU, but this CPU cannot."""
        return self.finder.lacks_int8

    def map(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Yield every chunk with the result of the task."""
        memory = MemoryTrimmer()
        for chunk in chunks:
            yield chunk, task(self.finder, chunk)
            memory.trim()


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection

    def run(self, request: object) -> object:
        """Send a request and wait for the result; an error in the worker is raised here.

        request: a task and a chunk, or None to wait until the worker has loaded its finder; the
            result is then whether that had to fall back to float32
        """
        try:
            if request is not None:
                self.connection.send(request)
            result, error = self.connection.recv()
        except (EOFError, OSError) as closed:
            self.process.join()
            raise WorkerError(
                f"a worker died (status {self.process.exitcode}), possibly out of memory; "
                "try fewer with `workers`"
            ) from closed
        if error is not None:
            raise error
        return result


class WorkerPool:
    """Finders in worker processes, made by `start_workers`."""

    def __init__(self, workers: list[_Worker], *, lacks_int8: bool) -> None:
        self.lacks_int8 = lacks_int8
        self._count = len(workers)
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(len(workers))

    def map(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Yield every chunk with the result of the task, in order."""
        in_progress: deque[tuple[Chunk, Future[T]]] = deque()
        for chunk in chunks:
            in_progress.append((chunk, self._threads.submit(self._run, task, chunk)))
            if len(in_progress) >= CHUNKS_PER_WORKER * self._count:
                first, result = in_progress.popleft()
                yield first, result.result()
        for first, result in in_progress:
            yield first, result.result()

    def _run(self, task: Task[T], chunk: Chunk) -> T:
        worker = self._free.get()
        try:
            return worker.run((task, chunk))  # type: ignore[return-value]
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Cancel all tasks that have not started."""
        self._threads.shutdown(cancel_futures=True)


@contextmanager
def start_workers(load: Load, count: int) -> Iterator[WorkerPool]:
    """Start worker processes that load finders, and end them after the `with` block.

    load: loads a finder; it is sent to each worker, so it must be a picklable function
    """
    check_worker_count(count)
    workers: list[_Worker] = []
    try:
        with _ignore_ctrl_c():
            workers += (_start(load, count) for _ in range(count))
        lacks_int8 = [bool(worker.run(None)) for worker in workers]
        pool = WorkerPool(workers, lacks_int8=any(lacks_int8))
        try:
            yield pool
        finally:
            _end(workers)
            pool.close()
    finally:
        _end(workers)


def check_worker_count(count: int) -> None:
    """Raise `InputError` for a number of workers that this machine cannot run."""
    require_number("workers", count, at_least=1)
    cores = os.cpu_count() or 1
    if count > _MOST_PER_CORE * cores:
        raise InputError(
            f"`workers` must be at most {_MOST_PER_CORE * cores} here, {_MOST_PER_CORE} for each "
            f"core, got {count:,}; one for each core is fastest"
        )


def _start(load: Load, count: int) -> _Worker:
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_work, args=(theirs, load, count), daemon=True)
    process.start()
    theirs.close()  # so that the connection is closed when the process ends
    return _Worker(process, ours)


def _end(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join()


@contextmanager
def _ignore_ctrl_c() -> Iterator[None]:
    """Let processes that are started in the block ignore Ctrl-C; this process will end them."""
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _work(connection: Connection, load: Load, count: int) -> None:
    """Load a finder, then answer requests until the connection is closed."""
    try:
        import torch  # noqa: PLC0415 (only workers need it)

        if "OMP_NUM_THREADS" not in os.environ:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // count))
        collect_garbage_rarely()
        finder = load()
    except Exception as error:
        connection.send((None, picklable_error(error)))
        return
    connection.send((finder.lacks_int8, None))
    memory = MemoryTrimmer()
    try:
        while True:
            task, chunk = connection.recv()
            connection.send(_result_or_error(task, finder, chunk))
            memory.trim()
    except (EOFError, OSError):  # the main process has closed the connection
        return


def _result_or_error(
    task: Task[T], finder: "TextFinder", chunk: Chunk
) -> tuple[T | None, Exception | None]:
    try:
        return task(finder, chunk), None
    except Exception as error:
        return None, picklable_error(error)


def picklable_error(error: Exception) -> InputError | WorkerError:
    """Return an error that can be sent to another process, with a message of one line."""
    if isinstance(error, InputError):
        return InputError(str(error))
    return WorkerError(f"a worker failed: {type(error).__name__}: {error}")
