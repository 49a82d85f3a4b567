"""The choices that users of encoders have; does not import torch."""

from enum import StrEnum

MULTILINGUAL_ENCODER = "intfloat/multilingual-e5-small"


class EncoderSize(StrEnum):
    """The sizes of encoders that `train_encoder` trains."""

    SMALL = "small"
    LARGE = "large"
