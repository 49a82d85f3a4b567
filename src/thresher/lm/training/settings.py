"""The settings of a training run."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import Tensor

from thresher.lm.choices import Precision
from thresher.lm.losses.margin import INFINITE_MARGIN, Margin, MarginKind
from thresher.lm.losses.margin_choice import auto_margin
from thresher.validation import require_choice, require_fields, require_number


@dataclass(frozen=True)
class LanguageModelSettings:
    """How to train: the same settings, seed and text give the same model on the same CPU.

    steps: training steps, each one update of the weights
    batch: windows that one process computes at a time
    accumulate: batches per step, whose gradients are added up; `batch` × `accumulate` windows per
        step give the same model, whatever the two factors and the number of processes
    learning_rate: its maximum, after the warm-up
    warm_up: steps in which the learning rate rises linearly; then it falls along half a cosine
    final_share: the learning rate at the end as a fraction of its maximum
    decay_embeddings: whether weight decay applies to the embeddings of tokens, too
    clip: the maximum norm of all gradients together
    margin: a `Margin`, or a text or number for `Margin.parse`; "auto" is replaced when the token
        counts are known (`with_chosen_margin`)
    rare_token_budget: how much the loss over all tokens may rise in favour of rare ones, in nats
        (`rare_token_adjustment`); None is 0, or with the margin "auto" what it chooses
    cosine: the weight of the cosine regularisation of the embeddings
    match_rare_tokens: whether tokens of rarely seen text start at, and follow, the embeddings of
        frequent tokens with the same neighbours (see `token_matching`)
    mask_share: the fraction of tokens that a masked model has to predict
    evaluate_every: steps between two evaluations on the validation text
    validation_tokens: about how many tokens of the validation text each evaluation uses
    roles: whether to measure the gradient of each token by role (see `gradient_roles`)
    precision: a `Precision`; bfloat16 is mixed precision
    fused: whether to compute the loss without holding all logits; None: on a GPU, if it is faster
    compile: whether to compile the model with torch.compile; None: large models on a GPU
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
    rare_token_budget: float | None = None
    label_smoothing: float = 0.0
    cosine: float = 0.0
    match_rare_tokens: bool = False
    mask_share: float = 0.15
    evaluate_every: int = 250
    validation_tokens: int = 65_536
    roles: bool = True
    precision: str = Precision.FLOAT32.value
    seed: int = 0
    accumulate: int = 1
    fused: bool | None = None
    compile: bool | None = None

    def __post_init__(self) -> None:
        counts = ("steps", "batch", "accumulate", "evaluate_every", "validation_tokens")
        require_fields(self, counts, at_least=1)
        amounts = ("warm_up", "weight_decay", "cosine", "seed", "rare_token_budget")
        require_fields(self, amounts, at_least=0, below=math.inf)
        require_fields(self, ("learning_rate",), above=0, below=math.inf)
        require_fields(self, ("clip",), above=0)
        require_number("final_share", self.final_share, at_least=0, at_most=1)
        require_number("label_smoothing", self.label_smoothing, at_least=0, below=1)
        require_choice("precision", self.precision, Precision)
        object.__setattr__(self, "margin", Margin.parse(self.margin))
        if self.rare_token_budget is None and self.margin.kind != MarginKind.AUTO:
            object.__setattr__(self, "rare_token_budget", 0.0)

    @property
    def has_plain_loss(self) -> bool:
        """Whether the loss is cross-entropy without margin, label smoothing and adjustment."""
        changed = self.label_smoothing or self.rare_token_budget
        return self.margin.is_infinite and not changed

    def with_chosen_margin(self, counts: Tensor, *, context: int) -> "LanguageModelSettings":
        """Return the settings with numbers in place of "auto", see `auto_margin`.

        counts: (vocabulary,), of the training text   context: tokens per window
        """
        if self.margin.kind != MarginKind.AUTO:
            return self
        chosen = auto_margin(counts, training_tokens=self.steps * self.windows * context)
        given = self.rare_token_budget
        budget = chosen.rare_token_budget if given is None else given
        return replace(self, margin=Margin.parse(chosen.margin), rare_token_budget=budget)

    def favours_rare_tokens(self, step: int) -> bool:
        """Return whether a step spends the budget for rare tokens: in the second half of training.

        From the first step on, it would raise the loss over all tokens several times as much, and
        rare tokens would gain no more (docs/log.md).
        """
        return bool(self.rare_token_budget) and 2 * step >= self.steps

    @property
    def windows(self) -> int:
        """The number of windows per step."""
        return self.batch * self.accumulate

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as saved in config.json, with the margin as its text."""
        return asdict(self) | {"margin": str(self.margin)}
