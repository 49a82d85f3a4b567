"""int8 products as older CPUs compute them: oneDNN is limited to their instructions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thresher.encoders.int8_linear import int8_max_weight

pytestmark = pytest.mark.skipif(
    int8_max_weight() is None, reason="this CPU has no exact int8 products"
)
FOLDER = Path(__file__).parent


def run_as_avx2(*command):
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_avx2_overflows_with_weights_of_126_and_is_exact_with_63():
    lines = (
        "from thresher.encoders.int8_linear import int8_max_weight, int8_products_exact",
        "print(int8_max_weight(), int8_products_exact(126), int8_products_exact(63))",
    )
    ran = run_as_avx2("-c", "\n".join(lines))
    assert ran.stdout == "63 False True\n", ran.stderr


def test_all_tests_of_int8_pass_with_avx2():
    files = [str(FOLDER / name) for name in ("test_int8_linear.py", "test_int8_bert.py")]
    ran = run_as_avx2("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files)
    assert ran.returncode == 0, ran.stdout
    assert "skipped" not in ran.stdout
