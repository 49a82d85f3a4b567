"""The names that a user of language models chooses from."""

from enum import StrEnum


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


class OutputLayerName(StrEnum):
    """The output layers of `thresher.lm.output_layers`."""

    ADAPTIVE = "adaptive"
    ADJUSTED = "adjusted"
    CLASSES = "classes"
    DIFFERENTIATED = "differentiated"
    FULL = "full"
    GATED = "gated"
    HIERARCHICAL = "hierarchical"
    NEGATIVE_SAMPLING = "negative-sampling"
    NOISE_CONTRASTIVE = "noise-contrastive"
    TARGET_SAMPLING = "target-sampling"
    TREE = "tree"
