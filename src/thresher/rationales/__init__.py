"""Classify texts with rationales: a classifier, and gates that select the words it needs."""
