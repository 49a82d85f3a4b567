"""How a language model is trained."""

from dataclasses import asdict, dataclass
from typing import Any

from thresher.errors import InputError
from thresher.lm.losses.margin import INFINITE_MARGIN, Margin

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class LanguageModelSettings:
    """One run: the same settings and seed on the same text give the same model on one CPU.

    batch: windows for a step   warm_up: steps to the full learning rate, then a cosine down to
    `final_share` of it   decay_embeddings: whether the rows of tokens decay as other weights do
    margin: a `Margin`, or a text or number for `Margin.parse`
    cosine: the factor of cosine regularisation
    evaluate_every: steps between two looks at the validation text, on about `validation_tokens`
    roles: measure the gradient of each token by role, where the loss allows it
    precision: bfloat16 computes in mixed precision
    """

    steps: int = 2000
    batch: int = 32
    learning_rate: float = 1e-3
    warm_up: int = 100
    final_share: float = 0.1
    weight_decay: float = 0.1
    decay_embeddings: bool = True
    clip: float = 1.0
    margin: Margin = INFINITE_MARGIN
    label_smoothing: float = 0.0
    cosine: float = 0.0
    mask_share: float = 0.15
    evaluate_every: int = 250
    validation_tokens: int = 65_536
    roles: bool = True
    precision: str = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "evaluate_every", "validation_tokens"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        for name in ("warm_up", "weight_decay", "cosine", "seed"):
            _require(getattr(self, name) >= 0, name, getattr(self, name), "at least 0")
        for name in ("learning_rate", "clip"):
            _require(getattr(self, name) > 0, name, getattr(self, name), "above 0")
        _require(0 <= self.final_share <= 1, "final_share", self.final_share, "from 0 to 1")
        smoothing = self.label_smoothing
        _require(0 <= smoothing < 1, "label_smoothing", smoothing, "at least 0 and below 1")
        if self.precision not in PRECISIONS:
            choices = ", ".join(PRECISIONS)
            raise InputError(f"unknown precision {self.precision!r}; choose from {choices}")
        object.__setattr__(self, "margin", Margin.parse(self.margin))

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as saved in config.json, with the margin as its text."""
        return asdict(self) | {"margin": str(self.margin)}


def _require(true: bool, name: str, value: float, rule: str) -> None:
    if not true:
        raise InputError(f"{name} must be {rule}, got {value}")
