"""Sentences to vectors."""

from thresher.encoders.loading import DEFAULT_ENCODER, load_encoder
from thresher.encoders.protocol import Encoder, TokenBatch

__all__ = ["DEFAULT_ENCODER", "Encoder", "TokenBatch", "load_encoder"]
