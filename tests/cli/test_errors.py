"""Library errors name Python arguments; the command line shows its flags instead."""

import pytest
import typer

from thresher.cli import app as app_module
from thresher.cli.errors import exit_status, with_flags
from thresher.errors import InputError, TrainingError, WorkerError


def test_known_arguments_become_flags_and_others_stay():
    flags = {"target_rate": "--target-rate", "sources": "SOURCES"}
    message = "`target_rate` of `sources` must be below `cutoff`"
    assert with_flags(message, flags) == "--target-rate of SOURCES must be below `cutoff`"
    assert with_flags("try `target_rate=0.1`", flags) == "try --target-rate 0.1"
    assert with_flags("choose untied weights (`tied=False`)", flags) == (
        "choose untied weights (--untied)"
    )


@pytest.fixture
def failing(monkeypatch):
    """Make `thresher find` raise an error when it loads the model."""

    def fail_with(error):
        def load(*_, **__):
            raise error

        monkeypatch.setattr("thresher.bulk.finder_choice.FinderChoice.load", load)

    return fail_with


@pytest.mark.parametrize("kind", [InputError, TrainingError, WorkerError])
def test_an_error_of_the_library_is_one_line_with_flags(run, tmp_path, failing, kind):
    notes = tmp_path / "notes.txt"
    notes.write_text("Magda left.", encoding="utf-8")
    failing(kind("try fewer `workers`, another `format`\nor other `sources`"))
    result = run("find", notes)
    assert (result.status, result.out) == (1, "")
    assert result.error_line == "try fewer --workers, another --from or other SOURCES"


def test_an_option_is_found_by_the_name_of_the_library_argument(run, tmp_path):
    """--divergence-cap is the argument `cap` of DualModels, --share is `expected_rate`."""
    command = ["fit", tmp_path, "-o", tmp_path / "m", "--selectors", 2, "--relation", "align"]
    result = run(*command, "--divergence-cap", 1)
    assert "no text in folder" in result.error_line
    notes = tmp_path / "notes.txt"
    notes.write_text("Magda left.", encoding="utf-8")
    result = run(*command, "--divergence-cap", 1)
    assert result.error_line == "--divergence-cap is only used with --relation repel"


def test_flags_are_those_of_the_running_subcommand(run, tmp_path):
    result = run("lm", "eval", tmp_path, "--from", "text")
    assert result.error_line == "--from is the format of SOURCES; give at least one source"


def test_a_worker_error_is_not_taken_for_a_wrong_device(run, tmp_path, failing):
    notes = tmp_path / "notes.txt"
    notes.write_text("Magda left.", encoding="utf-8")
    failing(WorkerError("a worker died"))
    assert run("find", notes, "--device", "cpu").error_line == "a worker died"


@pytest.mark.parametrize(
    ("error", "status"),
    [(typer.Exit(3), 3), (KeyboardInterrupt(), 130), (InputError("x"), 1), (OSError(2, "x"), 1)],
)
def test_exit_statuses(error, status):
    assert exit_status(error) == status


def test_every_option_has_a_help_and_every_command_a_description():
    def check(command, path):
        assert command.help, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), (path, parameter.name)
        for name, subcommand in getattr(command, "commands", {}).items():
            check(subcommand, f"{path} {name}")

    check(app_module.get_command(app_module.build_app()), "thresher")


def test_control_characters_of_the_input_do_not_reach_the_terminal(run, tmp_path, failing):
    """Names of files and fields may come from anyone; ESC ] 0 ; sets the title of a terminal."""
    failing(InputError("no model"))
    notes = tmp_path / "notes.jsonl"
    notes.write_text(r'{"\u001b]0;title\u0007\u009b2J\u007fbody": "Oslo"}', encoding="utf-8")
    result = run("find", notes)
    assert result.status == 1
    assert "it has �]0;title��2J�body" in result.err
    assert all(each.isprintable() for each in result.err.replace("\n", ""))


def test_ctrl_c_while_modules_are_imported_is_one_line(run, monkeypatch):
    def interrupted(only):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_module, "build_app", interrupted)
    result = run("find", "notes.txt")
    assert (result.status, result.out, result.error_line) == (130, "", "stopped")
