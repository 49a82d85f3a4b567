"""The rows whose gradient is multiplied: full ones, made again, and heavy ones, from the record."""

import torch
from torch import Tensor

from thresher.lm.kernels.logit_gradients import fill_full_rows, fill_heavy_rows
from thresher.lm.kernels.plan import Plan, spans
from thresher.lm.kernels.products import add_product, product
from thresher.lm.kernels.recording import Layer, Record
from thresher.lm.kernels.row_groups import RowGroups


class DenseRows:
    """Gradients of the logits of dense rows, and of their inputs.

    input: (dense rows, width)   terms: as in `backward.gradients`   columns: taken at a time
    """

    def __init__(
        self, layer: Layer, record: Record, terms: Tensor, groups: RowGroups, plan: Plan
    ) -> None:
        self.layer, self.record, self.terms, self.groups = layer, record, terms, groups
        self.rows = groups.order[: groups.dense]
        self.input = layer.input if groups.all_full else layer.input[self.rows]
        self._sums = torch.zeros_like(self.input, dtype=torch.float32)
        self._gradient = _gradient_memory(self.input, record, groups, plan)
        self.columns = self._gradient.shape[1]
        self._logits = self._sums.new_empty(groups.full, _remade_columns(groups.full, plan))

    def logit_gradient(self, number: int, columns: slice) -> Tensor:
        """Of a chunk: (dense rows, columns); overwritten by the next one."""
        gradient = self._gradient[:, : columns.stop - columns.start]
        full = self.groups.full
        if full:
            self._fill_full(gradient[:full], columns)
        if full < self.groups.dense:
            fill_heavy_rows(
                gradient[full:],
                self.record,
                self.layer,
                self.terms,
                self.rows[full:],
                chunk=number,
                first=columns.start,
            )
        return gradient

    def add_to_input(self, gradient: Tensor, columns: slice) -> None:
        """Take in what a chunk gives to the rows' inputs."""
        add_product(self._sums, gradient, self.layer.weight[columns])

    def put_input(self, grad_input: Tensor | None) -> Tensor:
        """The gradient of all inputs, from that of the light rows; the last thing that is asked."""
        del self._gradient, self._logits
        sums = self._sums.mul_(self.groups.scale).to(self.input.dtype)
        if grad_input is None:
            return sums
        return grad_input.index_copy_(0, self.rows, sums)

    def _fill_full(self, gradient: Tensor, columns: slice) -> None:
        for some in spans(gradient.shape[1], self._logits.shape[1]):
            tokens = slice(columns.start + some.start, columns.start + some.stop)
            logits = self._logits[:, : some.stop - some.start]
            product(self.input[: self.groups.full], self.layer.weight[tokens].T, out=logits)
            fill_full_rows(
                gradient[:, some], logits, self.layer, self.terms, self.rows, first=tokens.start
            )


def _gradient_memory(input: Tensor, record: Record, groups: RowGroups, plan: Plan) -> Tensor:
    """(dense rows, columns). Where nothing is read from the record, its entries lend their memory.

    Only then may the columns differ from those that were recorded.
    """
    if not groups.all_full:
        return input.new_empty(groups.dense, plan.columns)
    columns = max(1, int(plan.most_dense * plan.columns))
    memory = record.entries.data.view(input.dtype).flatten()  # not a change that autograd sees
    lent = min(columns, memory.numel() // groups.dense // 64 * 64)
    if lent < columns / 2:
        return input.new_empty(groups.dense, columns)
    return memory[: groups.dense * lent].view(groups.dense, lent)


def _remade_columns(full: int, plan: Plan) -> int:
    """As many as there is room for, if possible a multiple of 64, where products are fast."""
    columns = min(max(1, plan.remade_elements // max(1, full)), plan.columns)
    return columns // 64 * 64 or columns
