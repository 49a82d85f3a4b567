"""The names that a user of language models chooses from."""

from enum import StrEnum

from thresher.lm.output_layers.choices import OutputLayerName

__all__ = ["Objective", "OutputLayerName", "Precision", "TokenizerKind"]


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
