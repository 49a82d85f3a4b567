"""The margin loss as the loss of the Hugging Face Trainer."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.selfish import selfish_cross_entropy

TrainerLoss = Callable[..., Tensor]


def trainer_loss(
    margin: float,
    *,
    shift: bool = True,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> TrainerLoss:
    """A loss to give to `transformers.Trainer(compute_loss_func=…)`.

    It is called as (outputs, labels, num_items_in_batch) and does what transformers does for its
    own models: logits in float32; with `shift` the logits at t answer for the label at t + 1 (a
    causal model; a masked one takes `shift=False`); the sum over `num_items_in_batch` where the
    Trainer counts them through accumulated batches, otherwise the mean.

    outputs: a mapping with "logits", or a tuple that begins with them: (batch, length, vocabulary)
    labels: (batch, length)
    """

    def loss(
        outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        logits: Tensor = outputs["logits"] if isinstance(outputs, Mapping) else outputs[0]
        if shift:
            labels = functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
        summed = selfish_cross_entropy(
            logits.float().flatten(0, -2),
            labels.flatten().to(logits.device),
            margin=margin,
            ignore_index=ignore_index,
            reduction="mean" if num_items_in_batch is None else "sum",
            label_smoothing=label_smoothing,
            temperature=temperature,
            softcap=softcap,
        )
        if num_items_in_batch is None:
            return summed
        if isinstance(num_items_in_batch, Tensor):
            num_items_in_batch = num_items_in_batch.to(summed.device)
        return summed / num_items_in_batch

    return loss
