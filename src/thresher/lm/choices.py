"""The choices that users of language models have; does not import torch."""

from enum import StrEnum

from thresher.lm.output_layers.choices import OutputLayerName

__all__ = [
    "FeedForward",
    "Normalization",
    "Objective",
    "OutputLayerName",
    "PositionEncoding",
    "Precision",
    "PretrainedKind",
    "TokenizerKind",
]


class TokenizerKind(StrEnum):
    """How text is split into tokens."""

    CHARACTERS = "characters"
    BPE = "bpe"
    WORD_PAIRS = "word-pairs"
    WORDS = "words"


class PretrainedKind(StrEnum):
    """A tokenizer that comes with a model and cannot be learned."""

    PRETRAINED = "pretrained"


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
    """The feed-forward block of a Transformer layer; gelu-tanh is GPT-2's approximation."""

    GELU = "gelu"
    SWIGLU = "swiglu"
    GELU_TANH = "gelu-tanh"


class Normalization(StrEnum):
    """What normalises the input of each block: root mean square (Llama), or LayerNorm (GPT-2)."""

    RMS = "rms"
    LAYER = "layer"
