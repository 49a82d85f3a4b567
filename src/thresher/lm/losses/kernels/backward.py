"""The backward pass: exact gradients from the record of survivors.

Light rows are gathered first, all at once. Then the vocabulary is taken some chunks at a time, and
the dense rows are two matrix products of each. All sums are in float32; where light and dense rows
both give to a row of the weight's gradient, the first part is rounded to its dtype before the
second is added. No sum depends on the order in which programs run.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.losses.kernels.dense_rows import DenseRows
from thresher.lm.losses.kernels.light_rows import gather_sums, lists_by_row, lists_by_token
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.popular_tokens import take_popular_tokens
from thresher.lm.losses.kernels.recording import Layer, Record
from thresher.lm.losses.kernels.row_groups import RowGroups, row_groups


@dataclass
class Gradients:
    """None where it is not needed, or nothing was found yet. bias: float32."""

    input: Tensor | None = None
    weight: Tensor | None = None
    bias: Tensor | None = None


@dataclass(frozen=True)
class Needs:
    """Which gradients are asked for."""

    input: bool
    weight: bool
    bias: bool


def gradients(
    layer: Layer, record: Record, terms: Tensor, grad_rows: Tensor, plan: Plan, needs: Needs
) -> Gradients:
    """Those that are needed, of at least one position.

    terms: (6, positions), z_target, threshold, lse, pull, own, even   grad_rows: (positions,)
    """
    # Probabilities divided by thousands of positions would be out of float16's range.
    scale = grad_rows.abs().max()
    scale = scale.where(scale > 0, 1)
    terms = torch.cat([terms[:3], terms[3:] * (grad_rows / scale)])
    groups = row_groups(record, scale, layer.weight.shape[0], plan)
    found = Gradients()
    if not groups.all_full:
        _gather_light_rows(found, layer, record, terms, groups, plan, needs)
    if groups.dense:
        _multiply_dense_rows(found, layer, record, terms, groups, plan, needs)
    return found


def _gather_light_rows(
    found: Gradients,
    layer: Layer,
    record: Record,
    terms: Tensor,
    groups: RowGroups,
    plan: Plan,
    needs: Needs,
) -> None:
    """What light rows give to every token, and to their own inputs; other inputs stay empty."""
    by_row, owners = lists_by_row(record, layer, terms, groups, plan)
    by_token = lists_by_token(by_row, owners, groups.tokens)
    popular, by_token = take_popular_tokens(by_row, by_token, groups, layer.input.dtype, plan)
    if needs.input:
        found.input = torch.empty_like(layer.input)
        begun = popular.input_sums(layer.weight)
        gather_sums(by_row, layer.weight, groups.scale, out=found.input, begun=begun)
        del begun
    if needs.bias:
        found.bias = terms.new_empty(layer.weight.shape[0])
        ones = terms.new_ones(layer.input.shape[0], 1)
        gather_sums(by_token, ones, groups.scale, out=found.bias)
        found.bias[popular.tokens] = popular.bias_gradient(groups.scale)
    if needs.weight:
        of_popular = popular.weight_gradient(layer.input[by_row.owner], groups.scale)
        tokens = popular.tokens
        del by_row, owners, popular  # before the largest of all is made
        found.weight = torch.empty_like(layer.weight)
        gather_sums(by_token, layer.input, groups.scale, out=found.weight)
        found.weight[tokens] = of_popular


def _multiply_dense_rows(
    found: Gradients,
    layer: Layer,
    record: Record,
    terms: Tensor,
    groups: RowGroups,
    plan: Plan,
    needs: Needs,
) -> None:
    """Add what dense rows give."""
    rows = DenseRows(layer, record, terms, groups, plan)
    begun = found.weight is not None
    if needs.weight and not begun:
        found.weight = torch.empty_like(layer.weight)
    if needs.bias and found.bias is None:
        found.bias = terms.new_zeros(layer.weight.shape[0])
    for columns, gradient in rows.logit_gradients():
        if needs.input:
            rows.add_to_input(gradient, columns)
        if found.weight is not None:
            grad_rows = found.weight[columns]
            grad_rows.addmm_(gradient.T, rows.input, beta=int(begun), alpha=groups.scale)
        if found.bias is not None:
            found.bias[columns].add_(gradient.sum(0, dtype=torch.float32), alpha=groups.scale)
        del gradient  # it would live on after the last one
    if needs.input:
        found.input = rows.put_input(found.input)
