"""thresher --version, alone and with --verbose."""

import os
import re
import subprocess
import sys

import pytest

import thresher
from thresher.cli import main
from thresher.encoders.int8_linear import int8_max_weight


def test_the_version_is_one_line(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"thresher {thresher.__version__}\n"


@pytest.mark.parametrize("arguments", [["--version", "--verbose"], ["--verbose", "--version"]])
def test_verbose_shows_precision_and_instruction_set(capsys, arguments):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"thresher {thresher.__version__}"
    shown = dict(line.split(": ", 1) for line in lines[1:])
    expected = {
        126: "int8 (weights from -126 to 126)",
        63: "int8 (weights from -63 to 63)",
        None: "float32",
    }
    assert shown["precision"] == expected[int8_max_weight()]
    assert shown["instruction set"]
    assert shown["torch"].startswith("2")


@pytest.mark.skipif(int8_max_weight() is None, reason="this CPU has no exact int8 products")
def test_a_limit_on_instructions_is_shown():
    ran = subprocess.run(
        [sys.executable, "-m", "thresher", "--version", "--verbose"],
        env=os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "instruction set: AVX2\n" in ran.stdout
    assert "precision: int8 (weights from -63 to 63)\n" in ran.stdout


def test_verbose_needs_version(capsys):
    assert main(["--verbose", "find", "-"]) == 1
    assert re.fullmatch("thresher: --verbose .* --version\n", capsys.readouterr().err)
