"""The kernels that the profile is divided into exist."""

from pathlib import Path

from benchmarks.kernel.timing import PARTS

from thresher.lm.losses import kernels


def test_every_part_is_the_name_of_a_kernel():
    sources = Path(kernels.__file__).parent.glob("*.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert [name for name in PARTS if f"def {name}(" not in code] == []
