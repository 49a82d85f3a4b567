"""The choices that users of language models have; does not import torch."""

from enum import StrEnum

from thresher.lm.output_layers.choices import OutputLayerName

__all__ = [
    "FeedForward",
    "Objective",
    "OutputLayerName",
    "PositionEncoding",
    "Precision",
    "TokenizerKind",
]


class TokenizerKind(StrEnum):
    """How text is split into tokens."""

    CHARACTERS = "characters"
    BPE = "bpe"
    WORD_PAIRS = "word-pairs"
    WORDS = "words"


class Objective(StrEnum):
    """Predict the next token (causal), or hidden tokens (masked)."""

    CAUSAL = "causal"
    MASKED = "masked"


class Precision(StrEnum):
    """The dtype of training; bfloat16 is mixed precision."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class PositionEncoding(StrEnum):
    """How a Transformer represents positions."""

    ROTARY = "rotary"
    LEARNED = "learned"


class FeedForward(StrEnum):
    """The feed-forward block of a Transformer layer."""

    GELU = "gelu"
    SWIGLU = "swiglu"
