"""The command line: commands parse options, call one Python function and print the result."""

import gc
import sys
from collections.abc import Sequence

from thresher.bulk.memory import rare_garbage_collection

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; errors are printed as one line.

    Garbage is collected rarely while it runs.

    arguments: by default those of this process. Then garbage is not collected at its end, either
    """
    with rare_garbage_collection():
        try:
            from thresher.cli.app import run  # noqa: PLC0415 (which creates many objects)

            return run(arguments)
        except KeyboardInterrupt:  # while modules are imported; `run` handles all other cases
            print("thresher: stopped", file=sys.stderr)
            return 130
        finally:
            if arguments is None:
                gc.freeze()
