"""The choices that users of gates have; does not import torch."""

from enum import StrEnum


class GateForm(StrEnum):
    """How a Kumaraswamy sample becomes a hard gate."""

    CONTINUOUS = "continuous"
    STRETCHED = "stretched"
    THRESHOLDED = "thresholded"


class GatePosition(StrEnum):
    """Where a closed gate removes a word: at the encoder's input, or when vectors are pooled."""

    INPUT = "input"
    POOL = "pool"


class GateUnit(StrEnum):
    """Whether each word or each subword has a gate."""

    WORD = "word"
    SUBWORD = "subword"


class FilterKind(StrEnum):
    """Which frequencies a Fourier filter keeps."""

    LOW = "low"
    HIGH = "high"
    BAND = "band"


class SelectorRelation(StrEnum):
    """Whether the gates of several selectors should agree (align) or differ (repel)."""

    ALIGN = "align"
    REPEL = "repel"
