"""Chunks of documents, and workers that answer them in order or say why not."""

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
from thresher.bulk.chunks import FindSpans, ReadWords, chunks
from thresher.bulk.finder_choice import ModelChoice
from thresher.bulk.memory import FreedMemory
from thresher.bulk.workers import AHEAD, OneFinder, started
from thresher.errors import InputError
from thresher.text.corpus import Document


def raw(number: int) -> Document:
    return Document(
        f"The letter {number} that Magda wrote was sent from Oslo to Rosa.", "s", number
    )


def split(number: int) -> Document:
    return Document.from_words("The child wrote to Rosa .".split(), source=f"s{number // 3}")


def slow_and_numbered(finder, chunk):
    """The later a chunk, the sooner it is done."""
    time.sleep(0.2 / chunk[0].number)
    return os.getpid(), chunk[0].number


def failing(finder, chunk):
    raise InputError("this cannot be read") if chunk[0].number == 3 else KeyError("odd")


def dying(finder, chunk):
    os.kill(os.getpid(), signal.SIGKILL)


def objects_before_a_collection(finder, chunk):
    return gc.get_threshold()[0]


def times_given_back(finder, chunk):
    """Which worker this is, and how often it has given memory back since it was first asked."""
    if not hasattr(FreedMemory, "times"):
        FreedMemory.times = []
        FreedMemory.give_back = lambda self: self.times.append(self)
    return os.getpid(), len(FreedMemory.times)


def unloadable():
    raise InputError("there is no model folder none")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=40))
def test_chunks_keep_every_document_in_order_and_mix_none(kinds):
    documents = [
        Document.from_words(["a"], source=str(source)) if is_split else raw(source)
        for is_split, source in kinds
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "CHARACTERS", 150)
        patch.setattr(chunking, "TOGETHER", 2)
        found = list(chunks(documents))
    assert [each for chunk in found for each in chunk] == documents
    for chunk in found:
        assert len({(each.sentences is None) or each.source for each in chunk}) == 1
        assert len(chunk) <= 3


def test_a_chunk_is_given_before_the_input_ends():
    assert sum(len(each.text) for each in next(chunks(map(raw, count())))) >= chunking.CHARACTERS


@pytest.fixture(scope="module")
def pool(small):
    with started(ModelChoice(small, "cpu").load, 2) as workers:
        yield workers


@pytest.mark.parametrize("task", [FindSpans(), FindSpans(0.1), ReadWords()])
@pytest.mark.parametrize("document", [raw, split])
def test_workers_find_what_one_finder_finds(pool, small, monkeypatch, task, document):
    monkeypatch.setattr(chunking, "CHARACTERS", 500)
    documents = [document(number) for number in range(40)]
    alone = OneFinder(ModelChoice(small, "cpu").load())
    expected = list(alone.each(task, chunks(documents)))
    assert len(expected) > 4
    assert any(expected[0][1])
    found = list(pool.each(task, chunks(documents)))
    assert [chunk for chunk, _ in found] == [chunk for chunk, _ in expected]
    assert str(found) == str(expected)


def test_answers_come_in_order_from_several_processes(pool):
    documents = [[raw(number)] for number in range(1, 13)]
    answers = [answer for _, answer in pool.each(slow_and_numbered, documents)]
    assert [number for _, number in answers] == list(range(1, 13))
    assert len({process for process, _ in answers}) == 2


def test_only_so_much_is_read_ahead(pool):
    taken = []

    def endless():
        for number in count(1):
            taken.append(number)
            yield [raw(number)]

    answers = pool.each(slow_and_numbered, endless())
    for answered in range(1, 6):
        next(answers)
        assert len(taken) <= answered + 2 * AHEAD


@pytest.mark.parametrize(
    ("number", "error", "told"),
    [(3, InputError, "this cannot be read"), (4, RuntimeError, "in a worker: KeyError: 'odd'")],
)
def test_what_goes_wrong_in_a_worker_is_raised_here_and_the_worker_goes_on(
    pool, number, error, told
):
    with pytest.raises(error, match=told):
        list(pool.each(failing, [[raw(number)]]))
    assert [each for _, (_, each) in pool.each(slow_and_numbered, [[raw(9)]])] == [9]


def test_workers_look_for_cycles_seldom(pool):
    [(_, objects)] = pool.each(objects_before_a_collection, [[raw(1)]])
    assert objects == 100_000


def test_a_worker_that_dies_is_told(small):
    with (
        pytest.raises(InputError, match=r"a worker ended unasked \(status -9\)"),
        started(ModelChoice(small, "cpu").load, 1) as workers,
    ):
        list(workers.each(dying, [[raw(1)]]))


def test_a_model_that_cannot_be_loaded_is_told_before_any_work():
    with pytest.raises(InputError, match="there is no model folder none"), started(unloadable, 1):
        raise AssertionError("nothing is to be done")
    with pytest.raises(InputError, match="workers must be at least 1; got 0"), started(print, 0):
        raise AssertionError("nothing is to be done")


def test_no_process_is_left_when_the_block_ends_in_the_middle(small):
    before = set(psutil.Process().children())
    with started(ModelChoice(small, "cpu").load, 1) as workers:
        next(workers.each(slow_and_numbered, [[raw(number)] for number in range(1, 9)]))
        [worker] = set(psutil.Process().children()) - before
    assert not worker.is_running()


def test_freed_memory_of_a_worker_goes_back_after_every_chunk(pool):
    asked = [[raw(number)] for number in range(5)]
    answers = [answer for _, answer in pool.each(times_given_back, asked)]
    for worker in {worker for worker, _ in answers}:
        times = [each for process, each in answers if process == worker]
        assert times == list(range(len(times)))


def test_freed_memory_goes_back_after_every_chunk(monkeypatch):
    given_back = count()
    monkeypatch.setattr(FreedMemory, "give_back", lambda _: next(given_back))
    done = list(OneFinder(None).each(lambda _, chunk: chunk, ["a", "b"]))
    assert done == [("a", "a"), ("b", "b")]
    assert next(given_back) == 2
