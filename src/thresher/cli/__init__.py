"""The command line: commands parse options, call one Python function and print the result."""

import gc
import sys
from collections.abc import Sequence

from thresher.bulk.memory import collect_garbage_rarely

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; errors are printed as one line.

    arguments: by default those of this process. Then garbage is collected rarely, and not when the
        process ends.
    """
    is_own_process = arguments is None
    if is_own_process:
        collect_garbage_rarely()
    try:
        from thresher.cli.app import run  # noqa: PLC0415 (which creates many objects)

        return run(arguments)
    except KeyboardInterrupt:  # while modules are imported; `run` handles all other cases
        print("thresher: stopped", file=sys.stderr)
        return 130
    finally:
        if is_own_process:
            gc.freeze()
