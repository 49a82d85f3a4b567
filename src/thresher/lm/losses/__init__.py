"""Losses that help rare tokens, above all the margin ("selfish") cross-entropy."""
