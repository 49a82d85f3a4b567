"""The old home of `thresher.deprecation.renamed_arguments`."""

from thresher.deprecation import renamed_arguments

__all__ = ["renamed_arguments"]
