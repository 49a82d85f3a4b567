"""Train selectors on raw text."""
