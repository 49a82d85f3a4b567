"""Finders that take chunks: one in this process, or one in each of several.

A worker is a process with a finder of its own. For each there is a thread here that sends it a
task and waits for the answer, so that answers are asked for in the order of the chunks and at most
two chunks for each worker are under way, however long the input is.
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
from thresher.bulk.memory import FreedMemory, collect_seldom
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

T = TypeVar("T")
Load = Callable[[], "EntityFinder"]
Task = Callable[["EntityFinder", Chunk], T]

AHEAD = 2  # chunks under way for each worker: one it works on, one ready for it


class Finders(Protocol):
    """Whatever can put a task to finders, chunk by chunk."""

    def each(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Every chunk with what the task makes of it, in order; lazy."""
        ...


@dataclass(frozen=True)
class OneFinder:
    """A finder in this process."""

    finder: "EntityFinder"

    def each(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Every chunk with what the task makes of it."""
        freed = FreedMemory()
        for chunk in chunks:
            yield chunk, task(self.finder, chunk)
            freed.give_back()


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection

    def ask(self, question: object) -> object:
        """Send and wait. What went wrong over there is raised here."""
        try:
            if question is not None:
                self.connection.send(question)
            answer, error = self.connection.recv()
        except (EOFError, OSError) as gone:
            self.process.join()
            raise InputError(
                f"a worker ended unasked (status {self.process.exitcode}); "
                "was there memory enough for so many?"
            ) from gone
        if error is not None:
            raise error
        return answer


class Workers:
    """Finders in processes of their own; made by `started`."""

    def __init__(self, workers: list[_Worker]) -> None:
        self._count = len(workers)
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(len(workers))

    def each(self, task: Task[T], chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, T]]:
        """Every chunk with what the task makes of it, in order, `AHEAD` for each worker ahead."""
        under_way: deque[tuple[Chunk, Future[T]]] = deque()
        for chunk in chunks:
            under_way.append((chunk, self._threads.submit(self._ask, task, chunk)))
            if len(under_way) >= AHEAD * self._count:
                first, answer = under_way.popleft()
                yield first, answer.result()
        for first, answer in under_way:
            yield first, answer.result()

    def _ask(self, task: Task[T], chunk: Chunk) -> T:
        worker = self._free.get()
        try:
            return worker.ask((task, chunk))  # type: ignore[return-value]
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Forget what nobody waits for."""
        self._threads.shutdown(cancel_futures=True)


@contextmanager
def started(load: Load, count: int) -> Iterator[Workers]:
    """Workers that have loaded their finders; they end with the block, in the middle if need be.

    load: makes a finder; it is sent to each worker, so it must be a function that can be pickled
    """
    if count < 1:
        raise InputError(f"workers must be at least 1; got {count}")
    workers: list[_Worker] = []
    try:
        with _deaf_to_ctrl_c():
            workers += (_start(load, count) for _ in range(count))
        for worker in workers:
            worker.ask(None)  # its first word is that it is ready
        pool = Workers(workers)
        try:
            yield pool
        finally:
            _end(workers)
            pool.close()
    finally:
        _end(workers)


def _start(load: Load, count: int) -> _Worker:
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_work, args=(theirs, load, count), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process ends the connection
    return _Worker(process, ours)


def _end(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """What is started meanwhile never hears Ctrl-C; whoever started it does, and ends it."""
    if threading.current_thread() is not threading.main_thread():  # which alone may set handlers
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _work(connection: Connection, load: Load, count: int) -> None:
    """What a worker does: load, then answer until the other side is gone."""
    try:
        import torch  # noqa: PLC0415 (only workers need it)

        if "OMP_NUM_THREADS" not in os.environ:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // count))
        collect_seldom()
        finder = load()
    except Exception as error:  # it is told to whoever started this
        connection.send((None, told(error)))
        return
    connection.send((None, None))
    freed = FreedMemory()
    try:
        while True:
            task, chunk = connection.recv()
            connection.send(_answer(task, finder, chunk))
            freed.give_back()
    except (EOFError, OSError):  # nobody is left to work for
        return


def _answer(
    task: Task[T], finder: "EntityFinder", chunk: Chunk
) -> tuple[T | None, Exception | None]:
    try:
        return task(finder, chunk), None
    except Exception as error:
        return None, told(error)


def told(error: Exception) -> Exception:
    """An error as it can be sent to another process: one line."""
    if isinstance(error, InputError):
        return InputError(str(error))
    return RuntimeError(f"in a worker: {type(error).__name__}: {error}")
