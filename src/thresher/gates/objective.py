"""The terms of the objective, each a function of tensors.

L = λ_con (L_rationale − λ_cmp L_complement) + λ_s sparsity + λ_tv continuity + λ_e agreement

With several selectors, the sum of theirs and λ_kl times the divergence of their gates.
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
from thresher.gates.distributed import SINGLE_PROCESS, ProcessGroup
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

GATES_AT = ("input", "pool")


def info_nce(anchors: Tensor, others: Tensor, *, temperature: float) -> Tensor:
    """−mean log softmax over the batch of anchorᵢ·otherⱼ/τ at j = i, of unit vectors.

    anchors, others: (sentences, width)
    """
    similarity = _unit(anchors) @ _unit(others).T / temperature
    return functional.cross_entropy(similarity, torch.arange(len(anchors), device=anchors.device))


def _unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1. That of a sentence without open words is 0, and so is its gradient.

    `functional.normalize` would send back a gradient of 10¹² there, and spoil the whole step.
    """
    length: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / length.masked_fill(length == 0, torch.inf)


def contrast(
    encoder: Encoder,
    batch: TokenBatch,
    z: Tensor,
    *,
    temperature: float,
    gates_at: str = "input",
    keep: Callable[[Tensor], Tensor] | None = None,
    processes: ProcessGroup = SINGLE_PROCESS,
) -> tuple[Tensor, Tensor]:
    """L_rationale and L_complement: sentences from their open words, and from the others.

    z: (words,), sampled gates   gates_at: "input" takes words away before the encoder reads them;
    "pool" only leaves their vectors out of the mean, though their neighbours have read them
    keep: what of a sentence's vector is compared, such as some frequencies; all of it by default
    processes: those that share the encoding; each gets the losses of the whole batch
    """
    if gates_at not in GATES_AT:
        raise ValueError(f"unknown place for gates {gates_at!r}; choose from {', '.join(GATES_AT)}")
    own = batch.sentence_range(*processes.own_range(batch.sentences))
    with torch.no_grad():
        hidden = encode_checkpointed(encoder, own)
        anchors = _compared(sentence_vectors(hidden, own), keep, processes)

    def loss(gates: Tensor) -> Tensor:
        if gates_at == "pool":
            own_vectors = weighted_sentence_vectors(hidden, own, gates)
        else:
            own_vectors = sentence_vectors(encode_partly_checkpointed(encoder, own, gates), own)
        others = _compared(own_vectors, keep, processes)
        return info_nce(anchors, others, temperature=temperature)

    return _with_gradient(loss, z), _with_gradient(loss, 1 - z)


def _compared(
    own: Tensor, keep: Callable[[Tensor], Tensor] | None, processes: ProcessGroup
) -> Tensor:
    """What is compared of the vectors of all sentences: (sentences, …)."""
    every = processes.sum(own)
    return every if keep is None else keep(every)


def _with_gradient(loss: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    """loss(z), its gradient found at once, so that nothing it was computed from stays in memory.

    As loss(z₀) + ∇loss(z₀)·(z − z₀) with z₀ = z: of the same value and gradient.
    """
    if not z.requires_grad:
        return loss(z)
    here = z.detach().requires_grad_()
    value = loss(here)
    if not value.requires_grad:  # of few sentences, some processes have no share
        return value
    (gradient,) = torch.autograd.grad(value, here)
    return value.detach() + gradient @ (z - z.detach())


def sparsity(z: Tensor) -> Tensor:
    """The share of words let through, Σ z / words; in expectation where z is P(open)."""
    return z.mean()


def rate_divergence(prob_open: Tensor, rate: float) -> Tensor:
    """KL from a coin of that rate to one of the mean P(open): the expected selection held at π.

    Unlike sparsity it also opens gates, where they are open too rarely.
    """
    mean = prob_open.mean().clamp(1e-6, 1 - 1e-6)
    odds = (rate * (rate / mean).log(), (1 - rate) * ((1 - rate) / (1 - mean)).log())
    return odds[0] + odds[1]


def continuity(z: Tensor, sentence_of_word: Tensor) -> Tensor:
    """Total variation within sentences: Σ |zᵢ₊₁ − zᵢ| / words."""
    together = sentence_of_word[1:] == sentence_of_word[:-1]
    return ((z[1:] - z[:-1]).abs() * together).sum() / len(z)


def agreement(gates: KumaraswamyGate, prior: Tensor) -> Tensor:
    """Binary cross-entropy of P(open) to the prior π, over the words where π has an opinion.

    prior: (words,), NaN where there is none. Zero if it has no opinion of any word.
    """
    speaks = ~prior.isnan()
    target = torch.where(speaks, prior, 0.0)
    loss = -(target * gates.log_prob_open() + (1 - target) * gates.log_prob_closed())
    return (loss * speaks).sum() / speaks.sum().clamp(min=1)
