"""The measured memory of a process is the memory that it uses."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.speed.process import memory_use

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")

# Allocates 30 MB and maps a file of 20 MB.
_ALLOCATE = """
import mmap, sys
private = bytearray(b"x") * 30_000_000
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


def start(*command):
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


@pytest.mark.parametrize("parent", [(), (_PARENT,)], ids=["alone", "as a child"])
def test_private_memory_and_mapped_pages_are_measured_separately(file, parent):
    measured = []
    for script in ("import sys", _ALLOCATE):
        with start(*parent, f"{script}\n{_READY}", file) as process:
            assert process.stdout.readline() == "ready\n"
            measured.append(memory_use(process.pid))
            process.stdin.close()
    before_allocating, after = measured
    assert after.private - before_allocating.private == pytest.approx(0.030, abs=0.003)
    assert after.mapped - before_allocating.mapped == pytest.approx(0.020, abs=0.003)


def test_a_process_that_has_ended_uses_no_memory():
    process = start("pass")
    process.communicate()
    assert memory_use(process.pid) == (0.0, 0.0)
