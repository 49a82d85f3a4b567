"""The gradient that each token received, by the role it played.

A token's vector e is moved in three roles: 1 as an input, 2.1 as the target of a position, 2.2 at
all other positions, where it is pushed away. With tied weights the three are summed in one
gradient; here they are told apart.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.model import LanguageModel
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.windows import IGNORED, Batch

ROLES = ("input", "target", "other")


@dataclass(frozen=True)
class RoleGradients:
    """For each token, ‖Σ over a batch's positions of a role's part of ∂L/∂e‖, summed over steps.

    input: role 1   target: role 2.1   other: role 2.2, all (vocabulary,)
    """

    input: Tensor
    target: Tensor
    other: Tensor

    @classmethod
    def zeros(cls, vocabulary: int, *, device: torch.device | str = "cpu") -> "RoleGradients":
        """Nothing received yet."""
        return cls(*(torch.zeros(vocabulary, device=device) for _ in ROLES))

    @torch.no_grad()
    def add(
        self, model: LanguageModel, batch: Batch, vectors: Tensor, hidden: Tensor, rows: Tensor
    ) -> None:
        """Take in one step, after `backward` and before gradients are clipped; see `role_parts`."""
        parts = role_parts(model, batch, vectors, hidden, rows)
        for name, part in zip(ROLES, parts, strict=True):
            getattr(self, name).add_(part.norm(dim=1))


def measurable(model: LanguageModel) -> bool:
    """Whether `role_parts` knows the loss: a full softmax, with or without a margin."""
    layer = model.output
    return isinstance(layer, FullSoftmax) and not layer.label_smoothing and layer.softcap is None


@torch.no_grad()
def role_parts(
    model: LanguageModel, batch: Batch, vectors: Tensor, hidden: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The parts of ∂L/∂e of roles 1, 2.1 and 2.2, L being the mean of `rows` that count.

    They cost two sums over positions. Role 1 is the gradient of the input vectors, summed by token.
    In role 2.1 position i gives (∂L/∂z_t)·h_i = −(1 − q_i)/n·h_i, where q_i = exp(−rows_i) is what
    the survivors' softmax gave the target. Role 2.2 is whatever else the output vectors received.

    vectors: (batch, length, width), `model.embed(batch.input)`, its gradient retained
    hidden: (batch, length, width)   rows: (batch, length), losses
    returns: three of (vocabulary, width)
    """
    layer = model.output
    if not (isinstance(layer, FullSoftmax) and measurable(model)):
        raise InputError("roles are told apart for a full softmax without smoothing or soft cap")
    if vectors.grad is None or layer.weight.grad is None:
        raise ValueError("gradients are needed: retain those of the vectors and call backward")
    vocabulary = len(model.embedding)
    input = _sums(vectors.grad, batch.input, vocabulary)
    counts = batch.target != IGNORED
    pull = (-torch.expm1(-rows.float()) / counts.sum()).masked_fill(~counts, 0)
    target = _sums(-pull[..., None] * hidden, batch.target.masked_fill(~counts, 0), vocabulary)
    other = layer.weight.grad - target
    return input, target, other - input if model.architecture.tied else other


def _sums(vectors: Tensor, ids: Tensor, vocabulary: int) -> Tensor:
    """Vectors summed by token, masks left out: (vocabulary, width)."""
    sums = vectors.new_zeros(vocabulary + 1, vectors.shape[-1])
    sums = sums.index_add(0, ids.flatten(), vectors.flatten(0, -2))
    return sums[:vocabulary]
