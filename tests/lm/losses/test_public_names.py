"""The package of losses on its own: its names, and what importing them imports."""

import subprocess
import sys

CODE = """
import sys
import thresher.lm.losses as losses
assert "torch" not in sys.modules
for name in losses.__all__:
    getattr(losses, name)
print(*sorted({"transformers", "tokenizers", "safetensors", "typer", "rich"} & set(sys.modules)))
"""


def test_all_public_names_need_only_torch():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
