"""Install the wheel in empty environments, with each extra on its own, and run what it documents.

make check-wheel
python -m benchmarks.installation --only serve onnx
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder

from benchmarks.data import ALL_RESULTS, ROOT
from benchmarks.installation.checks import CHECKS, Check, write_inputs

RESULT = ALL_RESULTS / "installation.json"
_SECONDS = 600  # for one command


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(CHECKS), help="some of the extras")
    extras = parser.parse_args().only
    measured = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        [wheel] = WheelBuilder(str(ROOT)).build(directory=folder)
        for extra in extras:
            measured[extra] = check_extra(extra, Path(wheel))
            print(extra or "(none)", measured[extra], flush=True)
            RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if problems := [name for name in extras if measured[name]["problems"]]:
        sys.exit(f"problems with: {', '.join(problems)}")


def check_extra(extra: str, wheel: Path) -> dict[str, Any]:
    """Return the seconds and megabytes of an installation, and the commands that failed."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        environment = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        target = f"{wheel}[{extra}]" if extra else str(wheel)
        python = str(environment / "bin" / "python")
        constraints = str(ROOT / "constraints.txt")
        pip = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, target]
        started = time.perf_counter()
        subprocess.run(pip, check=True, capture_output=True)
        seconds = time.perf_counter() - started
        write_inputs(folder)
        problems = [each for check in CHECKS[extra] if (each := _problem(check, folder))]
        size = sum(file.lstat().st_size for file in environment.rglob("*") if file.is_file())
        shutil.rmtree(environment)
    return {"seconds": round(seconds), "megabytes": round(size / 1e6), "problems": problems}


def _problem(check: Check, folder: Path) -> str | None:
    """Run a command; return what went wrong, None if it did what it should."""
    # Only what a new user's shell has: no PYTHONPATH, and the environment's own commands.
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    variables = kept | {"PATH": f"{folder / 'environment' / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", check.command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    printed = done.stdout + done.stderr
    if (done.returncode == 1) != check.fails and "serve" not in check.command:
        return f"{check.command}: exit status {done.returncode}: {printed[-300:]}"
    return None if check.prints in printed else f"{check.command}: printed {printed[-300:]}"


if __name__ == "__main__":
    main()
