"""The names that a user of encoders chooses from."""

from enum import StrEnum


class EncoderSize(StrEnum):
    """The sizes of encoders that `train_encoder` trains."""

    SMALL = "small"
    LARGE = "large"
