"""Help, completion and mistyped commands."""

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest

import thresher
from thresher.cli.entities.find import OutputFormat
from thresher.gates.choices import GateForm, GatePosition, GateUnit, SelectorRelation
from thresher.gates.variants import DualModels
from thresher.rationales.choices import Baseline, GradientEstimator, RationaleMode
from thresher.rationales.settings import RationaleSettings
from thresher.text.choices import GoldFormat, TextFormat
from thresher.text.formats.annotation_tools import TOOLS
from thresher.text.readers import _READERS as READERS

LM_COMMANDS = ["lm", "lm train", "lm eval", "lm report", "lm sample", "lm export"]
RATIONALE_COMMANDS = ["rationale", "rationale fit", "rationale find", "rationale eval"]
COMMANDS = [
    "",
    "find",
    "entities",
    "fit",
    "eval",
    "distill",
    "kinds",
    "export",
    "serve",
    *LM_COMMANDS,
    *RATIONALE_COMMANDS,
]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "80"},
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_imports_nothing_heavy(command):
    import_times = python("-X", "importtime", "-m", "thresher", *command.split(), "--help").stderr
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in import_times.splitlines()
    }
    assert "typer" in imported
    assert not imported & {"torch", "transformers", "numpy", "pyarrow", "sklearn"}


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, thresher; thresher.Span; print('torch' in sys.modules)"
    assert python("-c", code).stdout == "False\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_narrow_terminal(run, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(*command.split(), "--help")
    assert shown.status == 0
    assert "Usage: thresher" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_value_for_flags(run, command):
    flags_with_values = re.findall(r"--(\S+) +<bool>", run(*command.split(), "--help").out)
    assert set(flags_with_values) <= {
        "help",
        "install-completion",
        "show-completion",
    }  # Typer's own


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_of_help_are_not_broken_by_the_width(run, command, monkeypatch):
    """A line of a docstring stays one line of the help."""
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(*command.split(), "--help").out.partition("╭")[0]
    monkeypatch.setenv("COLUMNS", "120")
    wide = run(*command.split(), "--help").out.partition("╭")[0]
    assert [line.split() for line in narrow.splitlines()][4:] == [
        line.split() for line in wide.splitlines()
    ][4:]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("thresher f", ["find", "fit"]),
        ("thresher lm s", ["sample"]),
        ("thresher find --thr", ["--threshold"]),
        ("thresher find x --to l", ["label-studio"]),
        ("thresher eval --from d", ["doccano"]),
    ],
)
def test_bash_completes_commands_and_options(typed, completed):
    """Run the script that `--show-completion` prints in bash."""
    script = (
        f'thresher() {{ {sys.executable} -m thresher "$@"; }}; '
        'eval "$(thresher --show-completion bash)"; '
        f"COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        "export COMP_WORDS COMP_CWORD; "
        f"_thresher_completion {sys.executable.rpartition('/')[0]}/thresher; "
        'echo "${COMPREPLY[@]}"'
    )
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == completed


def test_brackets_in_help_are_shown(run):
    shown = run("rationale", "fit", "--help").out.replace("│", " ")
    assert "(|E[z] − π|)" in " ".join(shown.split())


def test_no_arguments_show_help(run):
    assert run() == run("--help")


def test_the_version_is_that_of_the_package(run):
    assert run("--version").out == f"thresher {thresher.__version__}\n"
    assert importlib.metadata.version("thresher") == thresher.__version__


def test_choices_are_those_of_the_library():
    assert set(TextFormat) == set(READERS)
    assert set(GoldFormat) == {"conll", *TOOLS}
    assert set(OutputFormat) >= set(TOOLS)


@pytest.mark.parametrize(
    ("settings", "name", "choices"),
    [
        (thresher.EntitySettings, "form", GateForm),
        (thresher.EntitySettings, "gates_at", GatePosition),
        (thresher.EntitySettings, "unit", GateUnit),
        (DualModels, "relation", SelectorRelation),
        (RationaleSettings, "form", GateForm),
        (RationaleSettings, "mode", RationaleMode),
        (RationaleSettings, "estimator", GradientEstimator),
        (RationaleSettings, "baseline", Baseline),
    ],
)
def test_settings_accept_each_choice_and_no_other(settings, name, choices):
    for choice in choices:
        assert getattr(settings(**{name: choice}), name) == choice
    with pytest.raises(thresher.InputError, match=f"unknown `{name}` 'x'; choose from"):
        settings(**{name: "x"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fidn x", "Did you mean 'find'?"),
        ("fit -o y", "Missing argument 'SOURCES'"),
        ("find x --tresh 1", "--threshold"),
        ("find x --to htm", "'htm' is not one of 'terminal', 'jsonl', 'conll', 'iob2', 'html',"),
        ("find x --to htm", "did you mean html?"),
        ("find x --to labelstudio", "did you mean label-studio?"),
        (
            "find x --from txt",
            "is not one of 'text', 'jsonl', 'csv', 'tsv', 'parquet', 'conll', 'label-studio',",
        ),
        ("find x --threshold 1.5", "Invalid value for '--threshold': "),
        ("find x --threshold nan", "Invalid value for '--threshold': "),
        ("fit x", "Missing option '--output'"),
        ("find x --only", "requires an argument. (see thresher find --help)"),
        ("lm train x --tokens", "requires an argument. (see thresher lm train --help)"),
        ("fit x -o y --prior casig", "did you mean casing?"),
        (
            "fit x -o y --gates-at middle",
            "'middle' is not one of 'input', 'pool' (see thresher fit --help)",
        ),
        ("fit x -o y --form hard", "is not one of 'continuous', 'stretched', 'thresholded'"),
        ("fit x -o y --epochs 0", "Invalid value for '--epochs': "),
        ("fit x -o y --seed 1.5", "Invalid value for '--seed': "),
        ("lm sample x --seed 4294967296", "Invalid value for '--seed': "),
        ("fit x -o y --sparsity inf", "Invalid value for '--sparsity': "),
        ("fit x -o y --contrast -1", "Invalid value for '--contrast': "),
        ("fit x -o y --expect capitalized=.8", "did you mean capitalised?"),
        ("fit x -o y --expect capitalised", "is not of the form capitalised=0.85"),
        ("fit x -o y --expect lower=2", "'2' is not a number from 0 to 1"),
        ("eval x --from jsonl", "'jsonl' is not one of 'conll'"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_rule_or_choices(run, arguments, message):
    answer = run(*arguments.split())
    assert answer.status == 2
    assert message in answer.error_line
    assert answer.out == ""
