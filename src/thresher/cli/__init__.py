"""The command line: commands parse options, call one Python function and print the result."""

from thresher.cli.app import main

__all__ = ["main"]
