"""Chunks of documents, and workers that process them in order and report errors."""

import gc
import os
import signal
import time
from itertools import count

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.bulk import chunks as chunking
from thresher.bulk.chunks import FindSpans, ScoreWords, split_into_chunks
from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.memory import MemoryTrimmer
from thresher.bulk.workers import CHUNKS_PER_WORKER, LocalFinder, start_workers
from thresher.errors import InputError, WorkerError
from thresher.text.corpus import Document


def raw(number: int) -> Document:
    return Document(
        f"The letter {number} that Magda wrote was sent from Oslo to Rosa.", "s", number
    )


def split(number: int) -> Document:
    return Document.from_words("The child wrote to Rosa .".split(), source=f"s{number // 3}")


def slow_task(finder, chunk):
    """Later chunks are done sooner."""
    time.sleep(0.2 / chunk[0].number)
    return os.getpid(), chunk[0].number


def failing_task(finder, chunk):
    raise InputError("this cannot be read") if chunk[0].number == 3 else KeyError("odd")


def dying_task(finder, chunk):
    os.kill(os.getpid(), signal.SIGKILL)


def collection_threshold(finder, chunk):
    return gc.get_threshold()[0]


def times_trimmed(finder, chunk):
    """Return the worker's process, and how often it has trimmed memory since its first call."""
    if not hasattr(MemoryTrimmer, "times"):
        MemoryTrimmer.times = []
        MemoryTrimmer.trim = lambda self: self.times.append(self)
    return os.getpid(), len(MemoryTrimmer.times)


def unloadable():
    raise InputError("there is no model folder none")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=40))
def test_chunks_keep_the_order_and_do_not_mix_split_files_with_others(kinds):
    documents = [
        Document.from_words(["a"], source=str(source)) if is_split else raw(source)
        for is_split, source in kinds
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "CHUNK_CHARACTERS", 150)
        patch.setattr(chunking, "CHUNK_SENTENCES", 2)
        found = list(split_into_chunks(documents))
    assert [each for chunk in found for each in chunk] == documents
    for chunk in found:
        assert len({(each.sentences is None) or each.source for each in chunk}) == 1
        assert len(chunk) <= 3


def test_a_chunk_is_yielded_before_the_input_ends():
    assert (
        sum(len(each.text) for each in next(split_into_chunks(map(raw, count()))))
        >= chunking.CHUNK_CHARACTERS
    )


@pytest.fixture(scope="module")
def pool(small):
    with start_workers(FinderChoice(small, "cpu").load, 2) as workers:
        yield workers


@pytest.mark.parametrize("task", [FindSpans(), FindSpans(0.1), ScoreWords()])
@pytest.mark.parametrize("document", [raw, split])
def test_workers_find_the_same_as_a_local_finder(pool, small, monkeypatch, task, document):
    monkeypatch.setattr(chunking, "CHUNK_CHARACTERS", 500)
    documents = [document(number) for number in range(40)]
    alone = LocalFinder(FinderChoice(small, "cpu").load())
    expected = list(alone.map(task, split_into_chunks(documents)))
    assert len(expected) > 4
    assert any(expected[0][1])
    found = list(pool.map(task, split_into_chunks(documents)))
    assert [chunk for chunk, _ in found] == [chunk for chunk, _ in expected]
    assert str(found) == str(expected)


def test_results_of_several_processes_are_in_order(pool):
    documents = [[raw(number)] for number in range(1, 13)]
    answers = [answer for _, answer in pool.map(slow_task, documents)]
    assert [number for _, number in answers] == list(range(1, 13))
    assert len({process for process, _ in answers}) == 2


def test_few_chunks_are_read_ahead(pool):
    taken = []

    def endless():
        for number in count(1):
            taken.append(number)
            yield [raw(number)]

    answers = pool.map(slow_task, endless())
    for answered in range(1, 6):
        next(answers)
        assert len(taken) <= answered + 2 * CHUNKS_PER_WORKER


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [(3, InputError, "this cannot be read"), (4, WorkerError, "a worker failed: KeyError: 'odd'")],
)
def test_an_error_in_a_worker_is_raised_here_and_the_worker_continues(pool, number, error, message):
    with pytest.raises(error, match=message):
        list(pool.map(failing_task, [[raw(number)]]))
    assert [each for _, (_, each) in pool.map(slow_task, [[raw(9)]])] == [9]


def test_workers_collect_garbage_rarely(pool):
    [(_, objects)] = pool.map(collection_threshold, [[raw(1)]])
    assert objects == 100_000


def test_a_worker_that_dies_raises_a_worker_error(small):
    with (
        pytest.raises(WorkerError, match=r"a worker died \(status -9\), possibly out of memory"),
        start_workers(FinderChoice(small, "cpu").load, 1) as workers,
    ):
        list(workers.map(dying_task, [[raw(1)]]))


def test_a_model_that_cannot_be_loaded_is_reported_at_the_start():
    with (
        pytest.raises(InputError, match="there is no model folder none"),
        start_workers(unloadable, 1),
    ):
        raise AssertionError("nothing is to be done")
    with (
        pytest.raises(InputError, match="`workers` must be at least 1, got 0"),
        start_workers(print, 0),
    ):
        raise AssertionError("nothing is to be done")


def test_no_process_is_left_when_the_block_ends_early(small):
    before = set(psutil.Process().children())
    with start_workers(FinderChoice(small, "cpu").load, 1) as workers:
        next(workers.map(slow_task, [[raw(number)] for number in range(1, 9)]))
        [worker] = set(psutil.Process().children()) - before
    assert not worker.is_running()


def test_a_worker_trims_memory_after_every_chunk(pool):
    chunks = [[raw(number)] for number in range(5)]
    results = [result for _, result in pool.map(times_trimmed, chunks)]
    for worker in {worker for worker, _ in results}:
        times = [each for process, each in results if process == worker]
        assert times == list(range(len(times)))


def test_a_local_finder_trims_memory_after_every_chunk(monkeypatch):
    given_back = count()
    monkeypatch.setattr(MemoryTrimmer, "trim", lambda _: next(given_back))
    done = list(LocalFinder(None).map(lambda _, chunk: chunk, ["a", "b"]))
    assert done == [("a", "a"), ("b", "b")]
    assert next(given_back) == 2


def test_more_workers_than_the_machine_can_run_are_refused_before_any_starts(monkeypatch):
    def start(load, count):
        pytest.fail("a worker was started")

    monkeypatch.setattr("thresher.bulk.workers._start", start)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with (
        pytest.raises(InputError, match="`workers` must be at most 8 here"),
        start_workers(unloadable, 10_000),
    ):
        pass
