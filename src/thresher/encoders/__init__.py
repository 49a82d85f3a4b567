"""Encoders: sentences to word vectors."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.encoders.loading import DEFAULT_ENCODER, load_encoder
    from thresher.encoders.protocol import Encoder, TokenBatch
    from thresher.encoders.training import train_and_save_encoder

__all__ = ["DEFAULT_ENCODER", "Encoder", "TokenBatch", "load_encoder", "train_and_save_encoder"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.encoders.loading": ["DEFAULT_ENCODER", "load_encoder"],
        "thresher.encoders.protocol": ["Encoder", "TokenBatch"],
        "thresher.encoders.training": ["train_and_save_encoder"],
    },
)
