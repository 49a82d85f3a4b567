"""Sentences to vectors."""
