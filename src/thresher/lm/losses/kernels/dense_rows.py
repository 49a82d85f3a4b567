"""The rows whose gradient is multiplied: full ones, made again, and heavy ones, from the record."""

from collections.abc import Iterator

import torch
from torch import Tensor

from thresher.lm.losses.kernels.logit_gradients import fill_full_rows, fill_heavy_rows
from thresher.lm.losses.kernels.plan import Plan, spans
from thresher.lm.losses.kernels.products import add_product, product
from thresher.lm.losses.kernels.recording import Layer, Record
from thresher.lm.losses.kernels.row_groups import RowGroups


class DenseRows:
    """Gradients of the logits of dense rows, and of their inputs.

    input: (dense rows, width)   terms: as in `backward.gradients`
    """

    def __init__(
        self, layer: Layer, record: Record, terms: Tensor, groups: RowGroups, plan: Plan
    ) -> None:
        self.layer, self.record, self.terms = layer, record, terms
        self.groups, self.plan = groups, plan
        self.rows = groups.order[: groups.dense]
        self.input = layer.input if groups.all_full else layer.input[self.rows]
        self._sums = torch.zeros_like(self.input, dtype=torch.float32)

    def logit_gradients(self) -> Iterator[tuple[slice, Tensor]]:
        """Some chunks, and their gradient: (dense rows, columns), overwritten by the next one."""
        vocabulary = self.layer.weight.shape[0]
        width = self.plan.width(self.groups.dense, self.plan.gradient_elements, vocabulary)
        memory = self.input.new_empty(self.groups.dense, width)
        logits = self._logits_memory(memory)
        full = self.groups.full
        for columns in spans(vocabulary, width):
            gradient = memory[:, : columns.stop - columns.start]
            if full:
                self._fill_full(gradient[:full], logits, columns)
            if full < self.groups.dense:
                self._fill_heavy(gradient[full:], columns)
            yield columns, gradient
            del gradient

    def add_to_input(self, gradient: Tensor, columns: slice) -> None:
        """Take in what some chunks give to the rows' inputs."""
        add_product(self._sums, gradient, self.layer.weight[columns])

    def put_input(self, grad_input: Tensor | None) -> Tensor:
        """The gradient of all inputs, from that of the light rows; the last thing that is asked."""
        sums = self._sums.mul_(self.groups.scale).to(self.input.dtype)
        if grad_input is None:
            return sums
        return grad_input.index_copy_(0, self.rows, sums)

    def _fill_full(self, gradient: Tensor, memory: Tensor, columns: slice) -> None:
        for some in spans(gradient.shape[1], memory.shape[1]):
            tokens = slice(columns.start + some.start, columns.start + some.stop)
            logits = memory[:, : some.stop - some.start]
            product(self.input[: self.groups.full], self.layer.weight[tokens].T, out=logits)
            fill_full_rows(
                gradient[:, some], logits, self.layer, self.terms, self.rows, first=tokens.start
            )

    def _fill_heavy(self, gradient: Tensor, columns: slice) -> None:
        chunks = slice(columns.start // self.plan.columns, self.plan.chunks(columns.stop))
        rows = self.rows[self.groups.full :]
        fill_heavy_rows(
            gradient, self.record, self.layer, self.terms, rows, self.plan, chunks=chunks
        )

    def _logits_memory(self, gradient: Tensor) -> Tensor:
        """For logits of full rows: (full rows, columns), if possible a multiple of 64 of them.

        As much as the plan grants, or what was free in the forward pass and is so still. Where
        nothing is read from the record, its entries lend their memory.
        """
        full = self.groups.full
        held = self.layer.weight, self.layer.input, self._sums, gradient
        free = self.plan.logits_elements - sum(tensor.nbytes for tensor in held) // 4
        columns = max(self.plan.remade_elements, free) // max(1, full)
        columns = min(max(1, columns // 64 * 64 or columns), gradient.shape[1])
        if self.groups.all_full:
            lent = self.record.entries.data.view(torch.float32).flatten()  # unseen by autograd
            if lent.numel() >= full * columns:
                return lent[: full * columns].view(full, columns)
        return self._sums.new_empty(full, columns)
