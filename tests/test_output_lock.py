"""Two runs never write the same output, and a dead run does not keep its lock."""

import multiprocessing
import os
import signal

import pytest

from thresher.errors import InputError
from thresher.output_lock import lock_output


def hold(path, ready):
    with lock_output(path):
        ready.set()
        signal.pause()


@pytest.fixture
def other_run():
    """A function that starts a process that holds the lock of a path; returns the process."""
    context = multiprocessing.get_context("fork")
    started = []

    def start(path):
        ready = context.Event()
        process = context.Process(target=hold, args=(path, ready), daemon=True)
        process.start()
        started.append(process)
        assert ready.wait(20)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()


def test_a_second_run_reports_the_first_until_that_is_killed(tmp_path, other_run):
    other = other_run(tmp_path / "out")
    with (
        pytest.raises(
            InputError, match=r"another run is writing .*out; wait until it has finished"
        ),
        lock_output(tmp_path / "out"),
    ):
        pass
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    with lock_output(tmp_path / "out"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_link_to_an_output_has_the_same_lock(tmp_path, other_run):
    (tmp_path / "link").symlink_to("out")
    other_run(tmp_path / "out")
    with pytest.raises(InputError, match="another run"), lock_output(tmp_path / "link"):
        pass


def test_other_outputs_are_not_locked_and_nothing_is_left(tmp_path, other_run):
    other_run(tmp_path / "out")
    with lock_output(tmp_path / "out2"), lock_output(tmp_path / "deep" / "out"):
        pass
    assert {each.name for each in tmp_path.iterdir()} == {".out.lock", "deep"}


def test_a_lock_file_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / ".out.lock").symlink_to("precious")
    with pytest.raises(InputError, match="cannot write"), lock_output(tmp_path / "out"):
        pass
    assert (tmp_path / "precious").read_text() == "old"


def test_a_lock_that_is_removed_while_another_process_opens_it_is_taken_again(
    tmp_path, monkeypatch
):
    """The first run removes its file after the second has opened it, and before it is locked."""
    opened = []

    def open_and_remove(path, *arguments):
        handle = original(path, *arguments)
        opened.append(path)
        if len(opened) == 1:
            path.unlink()
        return handle

    original = os.open
    monkeypatch.setattr(os, "open", open_and_remove)
    with lock_output(tmp_path / "out"):
        assert (tmp_path / ".out.lock").exists()
    assert len(opened) == 2
