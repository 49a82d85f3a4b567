"""Measure the gradient of each token's embedding by the role in which the token received it.

A token's embedding e receives gradient in three roles: (1) as an input, (2.1) as the target of a
position, and (2.2) as one of the other tokens of the softmax, where it is pushed away. With tied
weights the sum of the three is one gradient; this module separates them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.model import LanguageModel
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.training.batches import IGNORED, Batch

ROLES = ("input", "target", "other")

_MAX_DENSE_VOCABULARY = 1024  # up to here, a matrix product is faster than adding by index


@dataclass(frozen=True)
class RoleGradients:
    """For each token, the norm of its gradient in each role, summed over training steps.

    The norm is ‖Σ over the positions of a batch of the role's part of ∂L/∂e‖.

    input: role 1   target: role 2.1   other: role 2.2; all (vocabulary,)
    """

    input: Tensor
    target: Tensor
    other: Tensor

    @classmethod
    def zeros(cls, vocabulary: int, *, device: torch.device | str = "cpu") -> "RoleGradients":
        """Return sums that start at zero."""
        return cls(*(torch.zeros(vocabulary, device=device) for _ in ROLES))

    @torch.no_grad()
    def add_gradients(self, model: LanguageModel, embedding: Tensor, target: Tensor) -> None:
        """Add one step, after `backward` and before gradients are clipped.

        target: the gradient of role 2.1 (`target_gradient`) of all its batches
        """
        for role, gradient in zip(ROLES, split_by_role(model, embedding, target), strict=True):
            getattr(self, role).add_(gradient.norm(dim=1))


def can_measure_roles(model: LanguageModel) -> bool:
    """Return True for a full softmax without label smoothing and soft cap; a margin is allowed."""
    layer = model.output
    return isinstance(layer, FullSoftmax) and not layer.label_smoothing and layer.softcap is None


def embedding_with_gradient(model: LanguageModel) -> Tensor:
    """Return a view of the embedding, for `model.embed`, that keeps the gradient of its use.

    The gradient of the view is that of role 1 alone, even if the output layer is tied.
    """
    embedding = model.embedding.view_as(model.embedding)
    embedding.retain_grad()
    return embedding


@torch.no_grad()
def target_gradient(
    batch: Batch,
    hidden: Tensor,
    losses: Tensor,
    *,
    vocabulary: int,
    predicted: int,
) -> Tensor:
    """Return role 2.1 of a batch: Σ −(1 − q_i)/n·h_i over the positions of each target.

    L is the mean of the losses, and q_i = exp(−losses_i) the probability of the target in the
    softmax over the survivors. So position i adds (∂L/∂z_target)·h_i = −(1 − q_i)/n·h_i.

    hidden: (batch, length, width)   losses: (batch, length)
    predicted: n, the number of positions over which L is the mean
    returns: (vocabulary, width), in the dtype of the losses
    """
    counted = batch.target != IGNORED
    factors = (torch.expm1(-losses) / predicted).masked_fill(~counted, 0)
    ids = batch.target.masked_fill(~counted, 0).flatten()
    return _sum_by_token(
        factors.flatten(), hidden.flatten(0, -2).to(factors.dtype), ids, vocabulary
    )


@torch.no_grad()
def split_by_role(
    model: LanguageModel, embedding: Tensor, target: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parts of ∂L/∂e of roles 1, 2.1 and 2.2, after `backward`.

    Role 1 is the gradient of `embedding`, and role 2.2 the rest of the output layer's gradient.

    embedding: (vocabulary, width), `embedding_with_gradient(model)`, used to embed the batch
    target: (vocabulary, width), role 2.1, from `target_gradient`
    """
    layer = model.output
    if not (isinstance(layer, FullSoftmax) and can_measure_roles(model)):
        raise InputError("gradients by role need a full softmax without label smoothing or softcap")
    if embedding.grad is None or layer.weight.grad is None:
        raise ValueError(
            "there are no gradients; embed with `embedding_with_gradient` and call backward first"
        )
    other = layer.weight.grad - target
    if model.architecture.tied:
        other = other - embedding.grad
    return embedding.grad, target, other


def _sum_by_token(factors: Tensor, vectors: Tensor, ids: Tensor, vocabulary: int) -> Tensor:
    """Return Σ factor·vector over the positions of each token.

    factors, ids: (positions,)   vectors: (positions, width)   returns: (vocabulary, width)
    """
    if vocabulary > _MAX_DENSE_VOCABULARY:
        sums = vectors.new_zeros(vocabulary, vectors.shape[1])
        return sums.index_add_(0, ids, factors[:, None] * vectors)
    matrix = factors.new_zeros(len(factors), vocabulary)
    return matrix.scatter_(1, ids[:, None], factors[:, None]).T @ vectors
