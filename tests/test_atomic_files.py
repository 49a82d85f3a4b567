"""Files and folders are written completely or not at all."""

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from thresher import atomic_files
from thresher.atomic_files import (
    _new_locked_folder,
    _remove_leftovers,
    check_can_write,
    exchange,
    open_atomic,
    write_file,
    write_folder,
)
from thresher.errors import InputError

FILES = {"config.json": b'{"sha256": {}}', "weights": b"1234"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_has_its_files_and_no_temporary_file_remains(tmp_path):
    write_folder(tmp_path / "deep" / "model", FILES)
    assert contents(tmp_path / "deep" / "model") == FILES
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model"]


def test_a_model_is_replaced_completely(tmp_path):
    write_folder(tmp_path / "model", {**FILES, "old": b""})
    write_folder(tmp_path / "model", FILES)
    assert contents(tmp_path / "model") == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("config", [None, b"{}", b"[1]", b"half a {", b'{"sha256'])
def test_a_folder_that_is_not_a_model_is_never_replaced(tmp_path, config):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    if config is not None:  # many programs keep one
        (tmp_path / "thesis" / "config.json").write_bytes(config)
    before = contents(tmp_path / "thesis")
    with pytest.raises(InputError, match="is not a model"):
        write_folder(tmp_path / "thesis", FILES)
    assert contents(tmp_path / "thesis") == before


def test_a_link_to_a_model_still_points_to_it_after_replacing(tmp_path):
    write_folder(tmp_path / "model", FILES)
    (tmp_path / "latest").symlink_to("model")
    for weights in (b"new", b"newer"):
        write_folder(tmp_path / "latest", {**FILES, "weights": weights})
        assert contents(tmp_path / "model")["weights"] == weights
    assert (tmp_path / "latest").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "model"]


def test_an_empty_folder_is_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    write_folder(tmp_path / "model", FILES)
    assert contents(tmp_path / "model") == FILES


@pytest.mark.parametrize("target", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_model_and_no_temporary_files(tmp_path, monkeypatch, target):
    write_folder(tmp_path / "model", FILES)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, target, full)
    with pytest.raises(InputError, match="No space left on device"):
        write_folder(tmp_path / "model", {"config.json": b"new"})
    monkeypatch.undo()
    assert contents(tmp_path / "model") == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o022)
    try:
        write_folder(tmp_path / "model", FILES)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model" / "weights").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o755


def leftover(target, *, purpose="tmp", folder=False):
    """Return a temporary name as a killed process leaves it."""
    path = target.with_name(f".{target.name}.{purpose}-abc_1234")
    if folder:
        path.mkdir()
        (path / "half").write_bytes(b"x")
    else:
        path.write_bytes(b"x")
    return path


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("purpose", ["tmp", "old"])
def test_leftovers_of_killed_processes_are_removed(tmp_path, folder, purpose):
    leftover(tmp_path / "model", purpose=purpose, folder=folder)
    write_folder(tmp_path / "model", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_leftover_of_a_killed_process_is_removed(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from thresher.atomic_files import open_atomic\n"
        "with open_atomic(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=False)
    assert ran.returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    write_file(tmp_path / "out", b"whole")
    assert contents(tmp_path) == {"out": b"whole"}


def test_a_temporary_file_in_use_is_not_removed(tmp_path):
    with open_atomic(tmp_path / "out") as file:
        file.write(b"slow")
        write_file(tmp_path / "out", b"quick")
        assert len(list(tmp_path.iterdir())) == 2
    assert contents(tmp_path) == {"out": b"slow"}


def test_a_temporary_folder_in_use_is_not_removed(tmp_path):
    with _new_locked_folder(tmp_path / "model") as folder:
        write_folder(tmp_path / "model", FILES)
        assert folder.exists()


@pytest.mark.parametrize(
    "name", [".out.tmp-abc", ".out.tmp-abcd1234.txt", ".out.notes123", ".other.tmp-abcd1234", "out"]
)
def test_files_with_other_names_are_not_removed(tmp_path, name):
    (tmp_path / name).write_bytes(b"mine")
    (tmp_path / ".out.tmp-linked12").symlink_to(tmp_path / name)
    _remove_leftovers(tmp_path / "out", "tmp")
    assert (tmp_path / name).read_bytes() == b"mine"
    assert (tmp_path / ".out.tmp-linked12").is_symlink()


def test_temporary_files_are_created_exclusively_with_random_names(tmp_path, monkeypatch):
    flags, names = [], set()
    real = os.open

    def spy(path, flag, *rest, **options):
        if ".tmp-" in str(path) and flag & os.O_CREAT:
            flags.append(flag)
            names.add(str(path))
        return real(path, flag, *rest, **options)

    monkeypatch.setattr(os, "open", spy)
    write_folder(tmp_path / "model", FILES)
    write_file(tmp_path / "file", b"")
    write_file(tmp_path / "file", b"")
    assert len(names) == 4
    assert all(flag & os.O_EXCL and flag & os.O_NOFOLLOW for flag in flags)


def test_a_linked_file_is_replaced_and_its_target_stays(tmp_path):
    (tmp_path / "precious").write_bytes(b"old")
    (tmp_path / "out").symlink_to("precious")
    write_file(tmp_path / "out", b"new")
    assert contents(tmp_path) == {"precious": b"old", "out": b"new"}


REPLACE_FOREVER = """
import sys
from pathlib import Path
from thresher.atomic_files import write_folder

number = 0
while True:
    content = str(number).encode() * 1000
    write_folder(Path(sys.argv[1]), {"config.json": b'{"sha256": {}}', "a": content, "b": content})
    print(number, flush=True)
    number += 1
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a system call of Linux")
def test_a_killed_process_never_leaves_the_name_without_a_complete_model(tmp_path):
    for delay in range(12):
        command = [sys.executable, "-c", REPLACE_FOREVER, tmp_path / "model"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(delay / 1000)
            process.kill()
        found = contents(tmp_path / "model")
        assert found.keys() == {"config.json", "a", "b"}
        assert found["a"] == found["b"] != b""
    write_folder(tmp_path / "model", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.skipif(sys.platform != "linux", reason="a system call of Linux")
def test_folders_are_exchanged_in_one_step(tmp_path, monkeypatch):
    write_folder(tmp_path / "model", FILES)
    existed = []
    real = os.replace

    def spy(*names):
        existed.append((tmp_path / "model" / "config.json").exists())
        real(*names)

    monkeypatch.setattr(os, "replace", spy)
    monkeypatch.setattr(atomic_files, "_replace_in_two_steps", None)
    write_folder(tmp_path / "model", {**FILES, "weights": b"new"})
    assert all(existed)
    assert contents(tmp_path / "model")["weights"] == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_without_exchange_a_model_is_replaced_in_two_steps(tmp_path, monkeypatch):
    write_folder(tmp_path / "model", FILES)
    monkeypatch.setattr(atomic_files, "exchange", lambda *_: False)
    write_folder(tmp_path / "model", {**FILES, "weights": b"new"})
    assert contents(tmp_path / "model")["weights"] == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_failure_between_the_two_steps_restores_the_model(tmp_path, monkeypatch):
    write_folder(tmp_path / "model", FILES)
    monkeypatch.setattr(atomic_files, "exchange", lambda *_: False)
    real = os.replace

    def fail(source, target):
        if ".tmp-" in str(source) and str(target) == str(tmp_path / "model"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="Input/output error"):
        write_folder(tmp_path / "model", {**FILES, "weights": b"new"})
    monkeypatch.undo()
    assert contents(tmp_path / "model") == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_exchanging_with_a_missing_folder_is_an_error(tmp_path):
    (tmp_path / "a").mkdir()
    if exchange_works(tmp_path):
        with pytest.raises(FileNotFoundError):
            exchange(tmp_path / "a", tmp_path / "b")


def exchange_works(folder):
    (folder / "x").mkdir()
    (folder / "y").mkdir()
    return exchange(folder / "x", folder / "y")


@pytest.mark.parametrize("place", ["model", "deep/deeper/model"])
def test_checking_that_a_path_can_be_written_leaves_nothing_behind(tmp_path, place):
    check_can_write(tmp_path / place)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot write .*file/model: Not a directory"):
        check_can_write(tmp_path / "file" / "model")
    with pytest.raises(InputError, match=r"cannot write .*: File name too long"):
        check_can_write(tmp_path / ("m" * 250))
    if os.geteuid() == 0:
        with pytest.raises(InputError, match=r"cannot write /proc/model: "):
            check_can_write(Path("/proc/model"))
    else:
        tmp_path.chmod(0o555)
        with pytest.raises(InputError, match="Permission denied"):
            check_can_write(tmp_path / "model")
        tmp_path.chmod(0o755)

    def fail(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(InputError, match=r"cannot write .*model: No space left on device"):
        check_can_write(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_checking_an_output_removes_what_a_killed_check_has_left(tmp_path):
    (tmp_path / ".out.tmp-a1b2c3_d").mkdir()
    (tmp_path / ".out.tmp-a1b2c3_d" / "trial").write_bytes(b"1")
    check_can_write(tmp_path / "out")
    assert not list(tmp_path.iterdir())
