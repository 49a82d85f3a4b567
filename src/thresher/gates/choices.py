"""The names that a user of gates chooses from."""

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
    """What has a gate of its own."""

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
