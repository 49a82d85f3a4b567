"""Gradients by role, against autograd with a copy of the vectors for each role."""

import math

import pytest
import torch
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.model import Architecture, seeded_model
from thresher.lm.reports import gradient_roles as module
from thresher.lm.reports.gradient_roles import (
    ROLES,
    RoleGradients,
    can_measure_roles,
    embedding_with_gradient,
    split_by_role,
    target_gradient,
)
from thresher.lm.shape import Shape
from thresher.lm.training.batches import IGNORED, Task

V = 13


def model_of(*, tied, causal=True, output="full"):
    shape = Shape(width=8, heads=2, layers=2, context=6, causal=causal)
    return seeded_model(Architecture(V, shape, output, tied), seed=0).double()


def batch_of(*, causal, seed=0):
    ids = torch.randint(V - 2, (200,), generator=torch.Generator().manual_seed(seed))
    task = Task(V, 6, causal, mask_share=0.4)
    return task.training_batch(ids, size=4, seed=seed, step=0)


def measured(model, batch):
    embedding = embedding_with_gradient(model)
    hidden = model.transformer(model.embed(batch.input, embedding=embedding))
    losses = model.output.loss(hidden, batch.target, reduction="none")
    model.zero_grad()
    (losses.sum() / (batch.target != IGNORED).sum()).backward()
    return embedding, hidden, losses


def role_of_target(batch, hidden, losses):
    predicted = int((batch.target != IGNORED).sum())
    return target_gradient(batch, hidden, losses, vocabulary=V, predicted=predicted)


def add_step(roles, model, batch, embedding, hidden, losses):
    roles.add_gradients(model, embedding, role_of_target(batch, hidden, losses))


def gradients_by_role(model, batch, embedding, hidden, losses):
    return split_by_role(model, embedding, role_of_target(batch, hidden, losses))


def by_copies(model, batch, margin):
    """Return ∂L/∂ of three copies of the embedding: for inputs, for targets, for other tokens."""
    read, pulled, pushed = (model.embedding.detach().clone().requires_grad_() for _ in range(3))
    if not model.architecture.tied:
        pulled, pushed = (model.output.weight.detach().clone().requires_grad_() for _ in range(2))
    padded = read if model.mask is None else torch.cat([read, model.mask.detach()[None]])
    hidden = model.transformer(functional.embedding(batch.input, padded)).flatten(0, 1)
    target = batch.target.flatten()
    is_target = functional.one_hot(target.clamp(min=0), V).bool() & (target != IGNORED)[:, None]
    logits = torch.where(is_target, hidden @ pulled.T, hidden @ pushed.T)
    loss = selfish_cross_entropy(logits, target, margin=margin, ignore_index=IGNORED)
    return torch.autograd.grad(loss, [read, pulled, pushed])


@pytest.mark.parametrize("margin", [math.inf, 0.05, 0.0])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("tied", [True, False])
def test_roles_are_the_gradients_of_three_untied_copies(tied, causal, margin):
    model, batch = model_of(tied=tied, causal=causal), batch_of(causal=causal)
    model.set_margin(margin)
    parts = gradients_by_role(model, batch, *measured(model, batch))
    for part, expected in zip(parts, by_copies(model, batch, margin), strict=True):
        torch.testing.assert_close(part, expected, rtol=1e-5, atol=1e-8)


def test_roles_are_the_same_when_summed_as_for_a_large_vocabulary(monkeypatch):
    model, batch = model_of(tied=True), batch_of(causal=True)
    found = measured(model, batch)
    by_product = gradients_by_role(model, batch, *found)
    monkeypatch.setattr(module, "_MAX_DENSE_VOCABULARY", V - 1)
    torch.testing.assert_close(gradients_by_role(model, batch, *found), by_product)


def test_the_three_roles_add_up_to_the_gradient_of_a_tied_embedding():
    model, batch = model_of(tied=True), batch_of(causal=True)
    parts = gradients_by_role(model, batch, *measured(model, batch))
    torch.testing.assert_close(sum(parts), model.embedding.grad)


def test_norms_are_summed_over_steps():
    model = model_of(tied=True)
    roles, expected = RoleGradients.zeros(V), {role: torch.zeros(V) for role in ROLES}
    for seed in range(3):
        batch = batch_of(causal=True, seed=seed)
        found = measured(model, batch)
        add_step(roles, model, batch, *found)
        for role, part in zip(ROLES, gradients_by_role(model, batch, *found), strict=True):
            expected[role] += part.norm(dim=1)
    for role in ROLES:
        torch.testing.assert_close(getattr(roles, role), expected[role])


def test_a_token_that_never_occurs_only_has_the_role_other():
    model, batch = model_of(tied=True), batch_of(causal=True)
    roles = RoleGradients.zeros(V)
    add_step(roles, model, batch, *measured(model, batch))
    assert roles.input[V - 1] == roles.target[V - 1] == 0
    assert roles.other[V - 1] > 0


def test_a_loss_whose_roles_cannot_be_separated_is_an_error():
    model, batch = model_of(tied=True), batch_of(causal=True)
    found = measured(model, batch)
    model.output.label_smoothing = 0.1
    assert not can_measure_roles(model)
    assert not can_measure_roles(model_of(tied=False, output="tree"))
    with pytest.raises(InputError, match="full softmax without label smoothing"):
        gradients_by_role(model, batch, *found)
    model.output.label_smoothing = 0.0
    model.zero_grad()
    with pytest.raises(ValueError, match="call backward"):
        gradients_by_role(model, batch, *found)
