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
    parser.add_argument("--base", type=Path, help="an environment with the wheel and no extra")
    options = parser.parse_args()
    extras = options.only
    measured = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        [wheel] = WheelBuilder(str(ROOT)).build(directory=temporary)
        base = options.base or Path(temporary) / "base"
        seconds = install(base, wheel) if options.base is None else None
        for extra in extras:
            measured[extra] = check_extra(extra, wheel, base)
            if not extra:  # the time of the whole installation, if it was measured
                measured[extra]["seconds"] = None if seconds is None else round(seconds)
            print(extra or "(none)", measured[extra], flush=True)
            RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    if problems := [name for name in extras if measured[name]["problems"]]:
        sys.exit(f"problems with: {', '.join(problems)}")


def install(environment: Path, target: str, *, base: Path | None = None) -> float:
    """Create an environment and install the wheel into it; return the seconds that pip took.

    base: an environment with the wheel's own dependencies. Its packages are linked into the new
        one instead of being downloaded and unpacked again, except for Thresher itself
    """
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    if base is not None:
        packages = next(base.glob("lib/python*/site-packages"))
        to = environment / packages.relative_to(base)
        for each in packages.iterdir():
            if not each.name.startswith("thresher") and not (to / each.name).exists():
                subprocess.run(["cp", "-al", each, to], check=True)
    constraints = str(ROOT / "constraints.txt")
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    started = time.perf_counter()
    subprocess.run([*pip, "--constraint", constraints, target], check=True, capture_output=True)
    return time.perf_counter() - started


def check_extra(extra: str, wheel: str, base: Path) -> dict[str, Any]:
    """Return the seconds and megabytes of an installation, and the commands that failed."""
    with tempfile.TemporaryDirectory(dir=base.parent) as temporary:
        folder = Path(temporary)
        environment = folder / "environment"
        seconds = install(environment, f"{wheel}[{extra}]" if extra else wheel, base=base)
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
