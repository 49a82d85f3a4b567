"""Vectors to gates to spans."""
