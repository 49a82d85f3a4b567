"""Annotations as others write them: one module a format."""
