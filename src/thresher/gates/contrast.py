"""The contrastive loss: recognise a sentence from its selected words, not from the others.

L_rationale is small if the selected words identify their sentence among those of the batch;
L_complement is the same loss for the words that were not selected.

Of several processes that train together, each encodes its own sentences, which takes most of the
time, and leaves zeros for the others. The sum over processes gives every process the vectors of the
whole batch, so each computes the loss with all negatives, and the mean of their gradients is the
gradient of that loss.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from thresher.encoders.activation_checkpointing import (
    encode_checkpointed,
    encode_partly_checkpointed,
)
from thresher.encoders.protocol import (
    Encoder,
    TokenBatch,
    sentence_vectors,
    weighted_sentence_vectors,
)
from thresher.gates.choices import GatePosition
from thresher.training_processes import SINGLE_PROCESS, Processes
from thresher.validation import require_choice

VectorFilter = Callable[[Tensor], Tensor]


def info_nce(anchors: Tensor, others: Tensor, *, temperature: float) -> Tensor:
    """Return the InfoNCE loss: −mean log softmaxⱼ(anchorᵢ·otherⱼ/τ) at j = i, of unit vectors.

    anchors, others: (sentences, width)
    """
    similarity = _unit(anchors) @ _unit(others).T / temperature
    return functional.cross_entropy(similarity, torch.arange(len(anchors), device=anchors.device))


def _unit(vectors: Tensor) -> Tensor:
    """Scale vectors to length 1; the zero vector of a sentence without open words stays zero.

    `functional.normalize` would give it a gradient of 10¹², which ruins the whole step.
    """
    length: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / length.masked_fill(length == 0, torch.inf)


def contrast(
    encoder: Encoder,
    batch: TokenBatch,
    z: Tensor,
    *,
    temperature: float,
    gates_at: str = GatePosition.INPUT,
    vector_filter: VectorFilter | None = None,
    processes: Processes = SINGLE_PROCESS,
) -> tuple[Tensor, Tensor]:
    """Compute L_rationale and L_complement of a batch.

    z: (words,), sampled gates
    gates_at: "input" replaces closed words before the encoder reads them; "pool" leaves their
        vectors out of the mean, although the vectors of other words were computed with them.
        Sentence vectors at the pool are means over word tokens, without special tokens
    vector_filter: applied to sentence vectors before they are compared
    processes: those that divide the encoding; each gets the losses of the whole batch
    """
    require_choice("gates_at", gates_at, GatePosition)
    share = processes.share(batch.sentences)
    own = batch.sentence_range(share.start, share.stop)
    at_pool = gates_at == GatePosition.POOL
    with torch.no_grad():
        hidden = encode_checkpointed(encoder, own)
        # With all gates open a rationale must equal its anchor, so both are means of word tokens.
        all_open = torch.ones_like(z)
        whole = (
            weighted_sentence_vectors(hidden, own, all_open)
            if at_pool
            else sentence_vectors(hidden, own)
        )
        anchors = _compared_vectors(whole, vector_filter, processes)

    def loss(gates: Tensor) -> Tensor:
        if at_pool:
            own_vectors = weighted_sentence_vectors(hidden, own, gates)
        else:
            own_vectors = sentence_vectors(encode_partly_checkpointed(encoder, own, gates), own)
        others = _compared_vectors(own_vectors, vector_filter, processes)
        return info_nce(anchors, others, temperature=temperature)

    return _with_gradient(loss, z), _with_gradient(loss, 1 - z)


def _compared_vectors(
    own: Tensor, vector_filter: VectorFilter | None, processes: Processes
) -> Tensor:
    """Return the filtered vectors of the sentences of all processes: (sentences, …)."""
    vectors = processes.sum(own)
    return vectors if vector_filter is None else vector_filter(vectors)


def _with_gradient(loss: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    """Return loss(z), with its gradient computed at once to free the activations.

    The result is loss(z₀) + ∇loss(z₀)·(z − z₀) at z₀ = z, which has the same value and gradient.
    """
    if not z.requires_grad:
        return loss(z)
    z0 = z.detach().requires_grad_()
    value = loss(z0)
    if not value.requires_grad:  # this process has no sentences of a small batch
        return value
    (gradient,) = torch.autograd.grad(value, z0)
    return value.detach() + gradient @ (z - z.detach())
