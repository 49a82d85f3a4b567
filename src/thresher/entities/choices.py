"""The choices that users of entity finding have; does not import torch."""

from enum import StrEnum


class PriorName(StrEnum):
    """The priors that give words a probability of being an entity."""

    CASING = "casing"
    REPETITION = "repetition"
    RARITY = "rarity"
    BURSTINESS = "burstiness"
    CONTEXTS = "contexts"
    SURPRISAL = "surprisal"
    NONE = "none"


class WordFeature(StrEnum):
    """The features of words for which an expected rate of entities can be given."""

    CAPITALISED = "capitalised"
    LOWER = "lower"
    RARE = "rare"
    REPEATED = "repeated"


class KindsWord(StrEnum):
    """Words that `kinds` accepts instead of a file: no kinds, or kinds discovered in the texts."""

    NONE = "none"
    AUTO = "auto"


class CoMentionScope(StrEnum):
    """Where two entities must be to be mentioned together."""

    SENTENCE = "sentence"
    DOCUMENT = "document"


ONNX_SUFFIX = ".onnx"  # of files that `thresher export` writes
