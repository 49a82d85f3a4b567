"""The choices that users of gates have; does not import torch."""

from enum import StrEnum


class GateForm(StrEnum):
    """How a Kumaraswamy sample becomes a hard gate."""

    CONTINUOUS = "continuous"
    STRETCHED = "stretched"
    THRESHOLDED = "thresholded"


# The range of the parameters a and b of each form. Thresholded and continuous gates have unimodal
# densities, a, b ≥ 1; a stretched gate can be closed most of the time only with the U-shaped
# densities below 1.
PARAMETER_RANGES: dict[str, tuple[float, float]] = {
    GateForm.THRESHOLDED: (1.0, 10.0),
    GateForm.CONTINUOUS: (1.0, 10.0),
    GateForm.STRETCHED: (0.1, 10.0),
}


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
