"""`python -m thresher` is the command `thresher`."""

import sys

from thresher.cli import main

if __name__ == "__main__":
    sys.exit(main())
