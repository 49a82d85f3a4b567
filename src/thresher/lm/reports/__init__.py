"""Evaluate language models and compare them by token frequency."""
