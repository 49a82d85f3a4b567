"""Evaluate language models and report the loss of each token by its frequency."""
