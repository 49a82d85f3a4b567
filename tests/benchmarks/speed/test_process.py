"""What is measured of a process is what it holds."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.speed.process import held

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux alone")

# Holds 30 MB of its own, then maps a file of 20 MB and reads it; says so, and waits.
_HOLDER = """
import mmap, sys
own = bytearray(b"x") * 30_000_000
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
assert mapped.find(b"x") == -1
"""
_READY = "print('ready', flush=True); sys.stdin.read()"
_PARENT = """
import subprocess, sys
with subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdin=0):
    pass
"""


def started(*command):
    return subprocess.Popen(
        [sys.executable, "-c", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "zeros"
    path.write_bytes(bytes(20_000_000))
    return str(path)


@pytest.mark.parametrize("before", [(), (_PARENT,)], ids=["alone", "as a child"])
def test_own_memory_and_mapped_pages_are_told_apart(file, before):
    found = []
    for script in ("import sys", _HOLDER):
        with started(*before, f"{script}\n{_READY}", file) as process:
            assert process.stdout.readline() == "ready\n"
            found.append(held(process.pid))
            process.stdin.close()
    without, holding = found
    assert holding.own - without.own == pytest.approx(0.030, abs=0.003)
    assert holding.mapped - without.mapped == pytest.approx(0.020, abs=0.003)


def test_a_process_that_has_ended_holds_nothing():
    process = started("pass")
    process.communicate()
    assert held(process.pid) == (0.0, 0.0)
