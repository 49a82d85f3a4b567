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
from thresher.lm.training.batches import IGNORED, Batch

ROLES = ("input", "target", "other")

_DENSE = 1024  # tokens; up to here a product is faster than a sum by index, where places collide


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
        self, model: LanguageModel, batch: Batch, read: Tensor, hidden: Tensor, rows: Tensor
    ) -> None:
        """Take in one step, after `backward` and before gradients are clipped; see `role_parts`."""
        parts = role_parts(model, batch, read, hidden, rows)
        for name, part in zip(ROLES, parts, strict=True):
            getattr(self, name).add_(part.norm(dim=1))


def measurable(model: LanguageModel) -> bool:
    """Whether `role_parts` knows the loss: a full softmax, with or without a margin."""
    layer = model.output
    return isinstance(layer, FullSoftmax) and not layer.label_smoothing and layer.softcap is None


def readable(model: LanguageModel) -> Tensor:
    """The embedding under another name, for `model.embed`, that keeps what it receives as input.

    Autograd sums up by token what tokens receive as inputs in any case; here it can be read off.
    """
    read = model.embedding.view_as(model.embedding)
    read.retain_grad()
    return read


@torch.no_grad()
def role_parts(
    model: LanguageModel, batch: Batch, read: Tensor, hidden: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The parts of ∂L/∂e of roles 1, 2.1 and 2.2, L being the mean of `rows` that count.

    They cost one sum over positions. Role 1 is what `read` received. In role 2.1 position i gives
    (∂L/∂z_t)·h_i = −(1 − q_i)/n·h_i, where q_i = exp(−rows_i) is what the survivors' softmax gave
    the target. Role 2.2 is whatever else the output vectors received.

    read: (vocabulary, width), `readable(model)`, from which the batch was embedded
    hidden: (batch, length, width)   rows: (batch, length), losses
    returns: three of (vocabulary, width)
    """
    layer = model.output
    if not (isinstance(layer, FullSoftmax) and measurable(model)):
        raise InputError("roles are told apart for a full softmax without smoothing or soft cap")
    if read.grad is None or layer.weight.grad is None:
        raise ValueError("gradients are needed: embed with `readable` and call backward")
    counts = batch.target != IGNORED
    pull = (torch.expm1(-rows.to(read.dtype)) / counts.sum()).masked_fill(~counts, 0)
    ids = batch.target.masked_fill(~counts, 0).flatten()
    target = _sums(pull.flatten(), hidden.flatten(0, -2).to(read.dtype), ids, len(read))
    other = layer.weight.grad - target
    return read.grad, target, other - read.grad if model.architecture.tied else other


def _sums(factors: Tensor, vectors: Tensor, ids: Tensor, vocabulary: int) -> Tensor:
    """Σ factor·vector by token: (positions,), (positions, width) and ids to (vocabulary, width)."""
    if vocabulary > _DENSE:
        sums = vectors.new_zeros(vocabulary, vectors.shape[1])
        return sums.index_add_(0, ids, factors[:, None] * vectors)
    shares = factors.new_zeros(len(factors), vocabulary)
    return shares.scatter_(1, ids[:, None], factors[:, None]).T @ vectors
