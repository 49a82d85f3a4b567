"""From gate scores to spans: signals, their weights, decoding."""
