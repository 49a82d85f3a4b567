"""What else is known to help rare tokens, each idea a function."""
