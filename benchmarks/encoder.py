"""The encoder that the English benchmarks use."""

import torch

from thresher.encoders import DEFAULT_ENCODER, Encoder, load_encoder
from thresher.encoders.sentence_bert import SentenceBert


def default_encoder(weights: str | None = None, *, layer: int | None = None) -> Encoder:
    """Load the default encoder.

    weights: a folder with a copy of its weights, for machines where its package is not installed
    layer: None for the encoder's default layer
    """
    if weights is None:
        return load_encoder(layer=layer)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return SentenceBert(weights, label=DEFAULT_ENCODER, layer=layer, device=device)
