"""The margin loss for the Trainer of Hugging Face transformers (does not import transformers)."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.margin_choice import AutoMargin
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.rare_tokens import rare_token_adjustment
from thresher.lm.losses.selfish import selfish_cross_entropy

TrainerLoss = Callable[..., Tensor]


def trainer_loss(
    margin: float | AutoMargin,
    *,
    token_counts: Tensor | None = None,
    shift: bool = True,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> TrainerLoss:
    """Return a loss for `transformers.Trainer(compute_loss_func=…)`.

    The Trainer calls it as loss(outputs, labels, num_items_in_batch). It computes what transformers
    computes for its own models, with the margin loss in place of cross-entropy: logits in float32,
    and the sum of losses divided by `num_items_in_batch` where the Trainer gives this number (it
    counts the items of all accumulated batches), otherwise the mean.

    margin: a number, or what `auto_margin` returns, which also needs `token_counts`
    token_counts: (vocabulary,), how often each token occurs in the training text
    shift: True for a causal model, whose logits at position t predict the label at t + 1; False
    for a masked language model
    outputs: a mapping with "logits", or a tuple that begins with them: (batch, length, vocabulary)
    labels: (batch, length)
    """
    number, adjustment = _number_and_adjustment(margin, token_counts)
    options: dict[str, Any] = {
        "margin": number,
        "ignore_index": ignore_index,
        "label_smoothing": label_smoothing,
        "temperature": temperature,
        "softcap": softcap,
    }
    MarginLossOptions(**options)  # raises an error if one is out of range

    def loss(
        outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        logits: Tensor = outputs["logits"] if isinstance(outputs, Mapping) else outputs[0]
        logits = logits.float()
        if adjustment is not None:
            if len(adjustment) != logits.shape[-1]:
                raise ValueError(
                    f"`token_counts` has {len(adjustment)} tokens, but the model predicts "
                    f"{logits.shape[-1]}; give one count for each token of the model"
                )
            logits = logits + adjustment.to(logits.device)
        if shift:
            labels = functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
        reduced = selfish_cross_entropy(
            logits.flatten(0, -2),
            labels.flatten().to(logits.device),
            reduction="mean" if num_items_in_batch is None else "sum",
            **options,
        )
        if num_items_in_batch is None:
            return reduced
        if isinstance(num_items_in_batch, Tensor):
            num_items_in_batch = num_items_in_batch.to(reduced.device)
        return reduced / num_items_in_batch

    return loss


def _number_and_adjustment(
    margin: float | AutoMargin, token_counts: Tensor | None
) -> tuple[float, Tensor | None]:
    """Return a margin as a number, and the adjustment of the logits that belongs to it, if any."""
    if not isinstance(margin, AutoMargin):
        return margin, None
    if token_counts is None:
        raise ValueError("a margin chosen by `auto_margin` needs `token_counts`")
    adjustment = rare_token_adjustment(token_counts, budget=margin.rare_token_budget)
    return margin.margin, adjustment
