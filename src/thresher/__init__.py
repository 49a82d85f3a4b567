"""Thresher learns which tokens matter, from raw text alone."""

__version__ = "0.1.0"
