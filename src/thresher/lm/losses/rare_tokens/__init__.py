"""Other published methods that help rare tokens, each one a function."""
