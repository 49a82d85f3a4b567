"""Dense rows: gradients as matrix products, of recomputed logits (full) or the record (heavy)."""

from collections.abc import Iterator

import torch
from torch import Tensor

from thresher.lm.losses.kernels.logit_gradients import fill_full_rows, fill_heavy_rows
from thresher.lm.losses.kernels.plan import slices
from thresher.lm.losses.kernels.products import add_product, product
from thresher.lm.losses.kernels.row_groups import BackwardPass


class DenseRows:
    """The gradients of the logits of dense rows, and of their inputs.

    input: (dense rows, width)
    """

    def __init__(self, backward: BackwardPass) -> None:
        self.backward = backward
        self.layer, self.groups, self.plan = backward.layer, backward.groups, backward.plan
        self.rows = self.groups.order[: self.groups.dense]
        self.input = self.layer.input if self.groups.all_full else self.layer.input[self.rows]
        self._sums = torch.zeros_like(self.input, dtype=torch.float32)

    def logit_gradients(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield some columns and their gradient: (dense rows, columns).

        The memory of the gradient is overwritten by the next one.
        """
        vocabulary = self.layer.weight.shape[0]
        width = self.plan.width(self.groups.dense, self.plan.gradient_elements, vocabulary)
        memory = self.input.new_empty(self.groups.dense, width)
        logits = self._logits_memory(memory)
        full = self.groups.full
        for columns in slices(vocabulary, width):
            gradient = memory[:, : columns.stop - columns.start]
            if full:
                self._fill_full(gradient[:full], logits, columns)
            if full < self.groups.dense:
                self._fill_heavy(gradient[full:], columns)
            yield columns, gradient
            del gradient

    def add_to_input(self, gradient: Tensor, columns: slice) -> None:
        """Add what some columns contribute to the gradient of the rows' inputs."""
        add_product(self._sums, gradient, self.layer.weight[columns])

    def finish_input(self, grad_input: Tensor | None) -> Tensor:
        """Return the gradient of all inputs, given that of the light rows; call it last."""
        sums = self._sums.mul_(self.groups.scale).to(self.input.dtype)
        if grad_input is None:
            return sums
        return grad_input.index_copy_(0, self.rows, sums)

    def _fill_full(self, gradient: Tensor, memory: Tensor, columns: slice) -> None:
        for some in slices(gradient.shape[1], memory.shape[1]):
            tokens = slice(columns.start + some.start, columns.start + some.stop)
            logits = memory[:, : some.stop - some.start]
            product(self.input[: self.groups.full], self.layer.weight[tokens].T, out=logits)
            terms = self.backward.terms
            fill_full_rows(
                gradient[:, some], logits, self.layer, terms, self.rows, first=tokens.start
            )

    def _fill_heavy(self, gradient: Tensor, columns: slice) -> None:
        chunks = slice(columns.start // self.plan.columns, self.plan.chunks(columns.stop))
        rows = self.rows[self.groups.full :]
        fill_heavy_rows(gradient, self.backward, rows, chunks=chunks)

    def _logits_memory(self, gradient: Tensor) -> Tensor:
        """Return memory for logits of full rows: (full rows, columns).

        The number of columns is a multiple of 64 if possible. Its size is the larger of what the
        plan allows and what is left of the forward pass's memory. If the record is not used, the
        memory of its entries is reused.
        """
        full = self.groups.full
        held = self.layer.weight, self.layer.input, self._sums, gradient
        free = self.plan.logits_elements - sum(tensor.nbytes for tensor in held) // 4
        columns = max(self.plan.recomputed_elements, free) // max(1, full)
        columns = min(max(1, columns // 64 * 64 or columns), gradient.shape[1])
        if self.groups.all_full:
            entries = self.backward.record.entries.data  # `.data` hides the writes from autograd
            reused = entries.view(torch.float32).flatten()
            if reused.numel() >= full * columns:
                return reused[: full * columns].view(full, columns)
        return self._sums.new_empty(full, columns)
