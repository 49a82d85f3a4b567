"""Strings in, words with offsets out; knows no torch."""
