import subprocess
import sys

import pytest

import thresher.lm
import thresher.lm.tokens
import thresher.lm.training


@pytest.mark.parametrize(
    "module", ["thresher.lm", "thresher.lm.choices", "thresher.lm.tokens", "thresher.lm.training"]
)
def test_importing_the_package_does_not_import_torch(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("package", [thresher.lm, thresher.lm.tokens, thresher.lm.training])
def test_every_public_name_can_be_imported(package):
    for name in dir(package):
        assert getattr(package, name) is not None or name.startswith("__")
