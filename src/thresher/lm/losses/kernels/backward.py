"""The backward pass: exact gradients from the record of survivors.

Light rows are gathered first, all at once. Then the vocabulary is processed some chunks at a time,
with two matrix products of each for the dense rows. All sums are in float32; where light and dense
rows both contribute to a row of the weight's gradient, the first part is rounded to its dtype
before the second is added. No sum depends on the order in which GPU programs run.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.losses.kernels.dense_rows import DenseRows
from thresher.lm.losses.kernels.light_rows import gather_sums, lists_by_row, lists_by_token
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.popular_tokens import take_popular_tokens
from thresher.lm.losses.kernels.recording import Layer, Record
from thresher.lm.losses.kernels.row_groups import BackwardPass, row_groups


@dataclass
class Gradients:
    """The gradients; None if one is not needed or not computed yet. The bias's is float32."""

    input: Tensor | None = None
    weight: Tensor | None = None
    bias: Tensor | None = None


@dataclass(frozen=True)
class Needs:
    """Flags: which inputs need a gradient."""

    input: bool
    weight: bool
    bias: bool


def gradients(
    layer: Layer, record: Record, terms: Tensor, grad_rows: Tensor, plan: Plan, needs: Needs
) -> Gradients:
    """Compute the gradients that are needed, for at least one position.

    terms: (6, positions), z_target, threshold, lse, pull, own, even
    grad_rows: (positions,), the gradient of each row's loss
    """
    # Without the scale, probabilities divided by thousands of positions would underflow in float16.
    scale = grad_rows.abs().max()
    scale = scale.where(scale > 0, 1)
    terms = torch.cat([terms[:3], terms[3:] * (grad_rows / scale)])
    groups = row_groups(record, scale, layer.weight.shape[0], plan)
    backward = BackwardPass(layer, record, terms, groups, plan)
    found = Gradients()
    if not groups.all_full:
        _gather_light_rows(found, backward, needs)
    if groups.dense:
        _multiply_dense_rows(found, backward, needs)
    return found


def _gather_light_rows(found: Gradients, backward: BackwardPass, needs: Needs) -> None:
    """Compute the part of light rows in the gradients of tokens, and the gradients of their inputs.

    The gradients of the inputs of dense rows stay undefined.
    """
    layer, terms, groups = backward.layer, backward.terms, backward.groups
    by_row, owners = lists_by_row(backward)
    by_token = lists_by_token(by_row, owners, groups.tokens)
    popular, by_token = take_popular_tokens(
        by_row, by_token, groups, layer.input.dtype, backward.plan
    )
    if needs.input:
        found.input = torch.empty_like(layer.input)
        initial = popular.input_sums(layer.weight)
        gather_sums(by_row, layer.weight, groups.scale, out=found.input, initial=initial)
        del initial
    if needs.bias:
        found.bias = terms.new_empty(layer.weight.shape[0])
        ones = terms.new_ones(layer.input.shape[0], 1)
        gather_sums(by_token, ones, groups.scale, out=found.bias)
        found.bias[popular.tokens] = popular.bias_gradient(groups.scale)
    if needs.weight:
        of_popular = popular.weight_gradient(layer.input[by_row.owner], groups.scale)
        tokens = popular.tokens
        del by_row, owners, popular  # before the largest tensor is allocated
        found.weight = torch.empty_like(layer.weight)
        gather_sums(by_token, layer.input, groups.scale, out=found.weight)
        found.weight[tokens] = of_popular


def _multiply_dense_rows(found: Gradients, backward: BackwardPass, needs: Needs) -> None:
    """Add what dense rows contribute."""
    layer, scale = backward.layer, backward.groups.scale
    rows = DenseRows(backward)
    has_light_part = found.weight is not None
    if needs.weight and not has_light_part:
        found.weight = torch.empty_like(layer.weight)
    if needs.bias and found.bias is None:
        found.bias = backward.terms.new_zeros(layer.weight.shape[0])
    for columns, gradient in rows.logit_gradients():
        if needs.input:
            rows.add_to_input(gradient, columns)
        if found.weight is not None:
            grad_rows = found.weight[columns]
            grad_rows.addmm_(gradient.T, rows.input, beta=int(has_light_part), alpha=scale)
        if found.bias is not None:
            found.bias[columns].add_(gradient.sum(0, dtype=torch.float32), alpha=scale)
        del gradient  # otherwise the last one would stay in memory
    if needs.input:
        found.input = rows.finish_input(found.input)
