"""The choices that users of encoders have; does not import torch."""

from enum import StrEnum


class EncoderSize(StrEnum):
    """The sizes of encoders that `train_encoder` trains."""

    SMALL = "small"
    LARGE = "large"
