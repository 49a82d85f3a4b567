"""The command line: commands parse options, call one Python function and print the result."""

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]

_GARBAGE_COLLECTION_THRESHOLD = 100_000  # new objects between two collections; Python's is 700


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; errors are printed as one line.

    arguments: by default those of this process. Then garbage is collected rarely, and not when the
        process ends: importing torch creates 300,000 objects, and looking for cycles among them
        would take a fifth of the time of a short command.
    """
    is_own_process = arguments is None
    if is_own_process:
        gc.set_threshold(_GARBAGE_COLLECTION_THRESHOLD)
    try:
        from thresher.cli.app import run  # noqa: PLC0415 (after the threshold is set)

        return run(arguments)
    except KeyboardInterrupt:  # while modules are imported; `run` handles all other cases
        print("thresher: stopped", file=sys.stderr)
        return 130
    finally:
        if is_own_process:
            gc.freeze()
