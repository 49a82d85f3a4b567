"""Texts with labels -> a classifier, and the words that carry its answers."""
