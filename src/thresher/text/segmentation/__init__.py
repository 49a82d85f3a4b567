"""Rules that split text into sentences and words."""
