"""The choices that users of rationales have; does not import torch."""

from enum import StrEnum


class RationaleMode(StrEnum):
    """Train a classifier before its gates (frozen), or both together (joint)."""

    FROZEN = "frozen"
    JOINT = "joint"


class GradientEstimator(StrEnum):
    """How the gradient of the loss reaches the gates."""

    PATHWISE = "pathwise"
    REINFORCE = "reinforce"


class Baseline(StrEnum):
    """The value that REINFORCE subtracts from a loss to reduce the variance."""

    NONE = "none"
    AVERAGE = "average"
    OTHERS = "others"


class RationaleMethod(StrEnum):
    """How the words of a rationale are chosen: by the trained gates, or by integrated gradients."""

    GATES = "gates"
    INTEGRATED_GRADIENTS = "integrated-gradients"


class Direction(StrEnum):
    """Whether words speak for or against the label; the kind of a span in a rationale."""

    FOR = "for"
    AGAINST = "against"


class ReferenceSelection(StrEnum):
    """Other ways to select words, which rationales are compared with."""

    RANDOM = "random"
    GRADIENT = "gradient"
    INTEGRATED_GRADIENTS = "integrated gradients"
