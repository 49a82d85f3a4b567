"""Installation: the built wheel in empty environments, with each extra on its own."""
