"""Files and folders are written completely or not at all."""

import errno
import os
import stat

import pytest

from thresher.atomic_files import write_file, write_folder
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
