"""Implementations of one operation: the margin loss of every position, from hidden states."""
