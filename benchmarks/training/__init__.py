"""Benchmarks of training language models: speed on a GPU, and memory on large corpora."""
