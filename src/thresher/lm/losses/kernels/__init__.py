"""Implementations of the margin loss from hidden states: `chunked` (torch), `sparse` (Triton)."""
