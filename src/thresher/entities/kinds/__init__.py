"""Kinds of entities from a few example names, and kinds discovered in a corpus."""
