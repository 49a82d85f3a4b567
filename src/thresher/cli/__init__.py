"""The command line: thin, no logic of its own."""

from thresher.cli.app import main

__all__ = ["main"]
