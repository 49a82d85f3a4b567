"""The folder with the files of a run that can be resumed."""

from contextlib import suppress

import pytest

from thresher.errors import InputError
from thresher.training_processes import Processes
from thresher.work_folder import check_output_folder, work_dir_of, work_folder


def test_the_folder_is_removed_after_success(tmp_path):
    with work_folder(tmp_path / "m") as work_dir:
        (work_dir / "log.csv").write_text("1")
    assert not list(tmp_path.iterdir())


def test_the_folder_stays_after_an_interrupt_which_says_how_to_resume(tmp_path):
    message = f"`resume` to continue from {tmp_path / 'm.partial'}"
    with pytest.raises(KeyboardInterrupt, match=message), work_folder(tmp_path / "m"):
        raise KeyboardInterrupt
    assert work_dir_of(tmp_path / "m").is_dir()


def failed_run(model, file, *, resume=False):
    """Start a run that writes a file and fails; return the names of the files it began with."""
    with suppress(ZeroDivisionError), work_folder(model, resume=resume) as folder:
        names = [each.name for each in folder.iterdir()]
        (folder / file).write_bytes(b"1")
        raise ZeroDivisionError
    return names


def test_only_a_resumed_run_keeps_the_files_of_an_earlier_one(tmp_path):
    model, file = tmp_path / "m", "checkpoint.safetensors"
    assert failed_run(model, file) == []
    assert failed_run(model, file, resume=True) == [file]
    assert failed_run(model, file) == []


def test_after_a_failure_token_ids_are_removed_and_so_is_an_empty_folder(tmp_path):
    failed_run(tmp_path / "m", "train.ids")
    assert not list(tmp_path.iterdir())


def test_only_the_main_process_creates_and_removes_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Processes, "wait", lambda _: None)
    with work_folder(tmp_path / "m", processes=Processes(1, 2)) as folder:
        assert not folder.exists()
    with work_folder(tmp_path / "m", processes=Processes(0, 2)) as folder:
        assert folder.is_dir()


def test_an_output_folder_is_checked_before_training(tmp_path):
    folder = tmp_path / "m"
    check_output_folder(folder)
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="is not a model; choose another folder"):
        check_output_folder(folder, force=True)
    (folder / "config.json").write_text('{"sha256": {}}')
    with pytest.raises(InputError, match="already contains a model; add `force`"):
        check_output_folder(folder)
    check_output_folder(folder, force=True)
    work_dir_of(folder).mkdir()
    check_output_folder(folder, force=True)
    (work_dir_of(folder) / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="contains other files"):
        check_output_folder(folder, force=True)


def test_a_link_instead_of_the_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "m.partial").symlink_to("elsewhere")
    with (
        pytest.raises(InputError, match=r"m\.partial is a symbolic link"),
        work_folder(tmp_path / "m"),
    ):
        pass


def test_a_link_in_the_folder_of_a_resumed_run_is_refused(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "m.partial").mkdir()
    (tmp_path / "m.partial" / "log.csv").symlink_to(tmp_path / "precious")
    with (
        pytest.raises(InputError, match=r"log\.csv is a symbolic link"),
        work_folder(tmp_path / "m", resume=True),
    ):
        pass
    assert (tmp_path / "precious").read_text() == "old"
