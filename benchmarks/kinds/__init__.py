"""Kinds of entities: typed span F1, discovered kinds, how many examples are enough, time."""
