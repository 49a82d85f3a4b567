"""The forward pass: compute logits some chunks at a time, and record the survivors.

A step over the vocabulary is one matrix product, which is read once and then overwritten by the
next. Each row of each chunk is a program of its own: it finds the survivors, computes their
log-sum-exp, and appends them to a list that several rows share. Their position in the list comes
from an atomic counter and may differ between runs; what is read back through `starts` does not.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from thresher.lm.losses.kernels.plan import Plan, slices
from thresher.lm.losses.kernels.products import product
from thresher.lm.losses.kernels.quotas import Quotas, list_count
from thresher.lm.losses.kernels.recording_kernels import record_kernel, target_logits_kernel
from thresher.lm.losses.options import LogitScaling

RECORD_LANES, RECORD_WARPS = 128, 4


@dataclass(frozen=True)
class Layer:
    """The tensors and options that determine the scaled logits and their targets.

    input: (positions, width)   weight: (vocabulary, width), of the same dtype, both contiguous
    bias: (vocabulary,), float32, or None
    class_weight: (vocabulary,), float32, or None without label smoothing
    target: (positions,), int32, −1 where ignored
    """

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    class_weight: Tensor | None
    target: Tensor
    scaling: LogitScaling

    @property
    def scaling_arguments(self) -> dict[str, float | bool]:
        """The scaling as keyword arguments of the kernels."""
        return {
            "sharpness": 1 / self.scaling.temperature,
            "softcap": self.scaling.softcap or 1.0,
            "HAS_SOFTCAP": self.scaling.softcap is not None,
        }

    def optional_arguments(self, *, otherwise: Tensor) -> tuple[Tensor, Tensor]:
        """Return bias and class weight; a kernel needs some tensor (`otherwise`) for a None."""
        return (
            otherwise if self.bias is None else self.bias,
            otherwise if self.class_weight is None else self.class_weight,
        )


class Record(NamedTuple):
    """The result of the forward pass. Rows that are not `kept` have to be computed again.

    lse: (positions,), log Σ exp z over the survivors
    weights, weighted: (positions,), Σ w and Σ w·z over them, with label smoothing
    survivors: (positions,), how many there are
    kept: (positions,), whether all of them are in the record
    entries: (lists, capacity), the survivors, see `entries.packed`; row i is in list i % lists
    starts, lengths: (chunks, positions), where in its list a row's part of a chunk is
    """

    lse: Tensor
    weights: Tensor
    weighted: Tensor
    survivors: Tensor
    kept: Tensor
    entries: Tensor
    starts: Tensor
    lengths: Tensor

    @property
    def is_wide(self) -> bool:
        """Whether an entry has 64 bits."""
        return self.entries.dtype == torch.int64

    @property
    def survivor_arguments(self) -> tuple[Tensor | int, ...]:
        """Arguments of kernels that read survivors: entries, lists, capacity, starts, lengths."""
        return self.entries, *self.entries.shape, self.starts, self.lengths


def empty_record(layer: Layer, plan: Plan, *, recording: bool) -> Record:
    """Return a record of the right shapes with undefined content.

    recording: False if no row will be kept
    """
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    chunks = plan.chunks(vocabulary) if recording else 0
    lists = list_count(positions)
    capacity = math.ceil(plan.recorded_fraction * positions * vocabulary / max(1, lists))
    entry_dtype = torch.int64 if layer.input.dtype == torch.float32 else torch.int32
    real = layer.input.new_empty(positions, dtype=torch.float32)
    whole = torch.empty_like(real, dtype=torch.int32)
    return Record(
        lse=real,
        weights=torch.empty_like(real),
        weighted=torch.empty_like(real),
        survivors=whole,
        kept=torch.empty_like(whole, dtype=torch.bool),
        entries=whole.new_empty(lists, capacity * recording, dtype=entry_dtype),
        starts=whole.new_empty(chunks, positions),
        lengths=whole.new_empty(chunks, positions),
    )


def target_logits(layer: Layer) -> Tensor:
    """Return z_target of each position, 0 where it is ignored: (positions,), float32."""
    positions, width = layer.input.shape
    logits = torch.empty(positions, device=layer.input.device)
    if positions:
        target_logits_kernel[(positions,)](
            layer.input,
            layer.weight,
            logits if layer.bias is None else layer.bias,
            layer.target,
            logits,
            width,
            HAS_BIAS=layer.bias is not None,
            BLOCK=min(1024, triton.next_power_of_2(width)),
            **layer.scaling_arguments,
        )
    return logits


def record_survivors(
    layer: Layer,
    z_target: Tensor,
    threshold: Tensor,
    plan: Plan,
    *,
    recording: bool,
    mean: bool = False,
) -> Record:
    """Compute all logits once, and return the sums over survivors and the survivors themselves.

    z_target, threshold: (positions,), float32
    recording: whether to record survivors, or only their sums
    mean: put the mean logit under the softmax of the survivors into `weighted`; only without
    label smoothing
    """
    record = empty_record(layer, plan, recording=recording)
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    if not positions:
        return record
    rows_at_once = plan.rows(positions)
    width = plan.width(rows_at_once, plan.logits_elements, vocabulary)
    logits = torch.empty(rows_at_once, width, device=layer.input.device)
    sums = _Sums.empty(plan.chunks(vocabulary), layer, mean=mean)
    quotas = Quotas.initial(positions, record.entries.shape[1], plan.chunks(width), logits.device)
    recorder = _Recorder(layer, z_target, threshold, record, sums, quotas, plan, recording, mean)
    for columns in slices(vocabulary, width):
        for rows in slices(positions, rows_at_once):
            tile = logits[: rows.stop - rows.start, : columns.stop - columns.start]
            product(layer.input[rows], layer.weight[columns].T, out=tile)
            recorder.add(tile, rows.start, columns.start)
        if recording:
            done = slice(columns.start // plan.columns, plan.chunks(columns.stop))
            quotas.update(
                record.starts[done],
                sums.lengths[done],
                seen=columns.stop,
                vocabulary=vocabulary,
                chunks=plan.chunks(width),
            )
    lse = sums.lse.logsumexp(0)
    weighted = (sums.lse - lse).exp().mul(sums.weighted) if mean else sums.weighted
    return record._replace(
        lse=lse,
        weights=sums.weights.sum(0),
        weighted=weighted.sum(0),
        survivors=sums.lengths.sum(0, dtype=torch.int32),
        kept=quotas.quota >= 0 if recording else quotas.quota < 0,
        lengths=sums.lengths if recording else record.lengths,
    )


class _Sums(NamedTuple):
    """The sums of `Record` for each chunk: (chunks, positions), or (0, positions) if not needed."""

    lengths: Tensor
    lse: Tensor
    weights: Tensor
    weighted: Tensor

    @classmethod
    def empty(cls, chunks: int, layer: Layer, *, mean: bool) -> "_Sums":
        smoothed = layer.class_weight is not None
        lse = torch.empty(chunks, len(layer.input), device=layer.input.device)
        lengths = torch.empty_like(lse, dtype=torch.int32)
        weights = torch.empty_like(lse[: chunks * smoothed])
        return cls(lengths, lse, weights, torch.empty_like(lse[: chunks * (smoothed or mean)]))


@dataclass(frozen=True)
class _Recorder:
    """Adds tiles of logits to the sums and to the record."""

    layer: Layer
    z_target: Tensor
    threshold: Tensor
    record: Record
    sums: _Sums
    quotas: Quotas
    plan: Plan
    recording: bool
    mean: bool

    def add(self, logits: Tensor, first_row: int, first_token: int) -> None:
        """Add the logits of some rows and columns, without bias and scaling: (rows, columns)."""
        layer = self.layer
        lanes = min(RECORD_LANES, self.plan.columns)
        record_kernel[(logits.shape[0], self.plan.chunks(logits.shape[1]))](
            logits,
            logits.stride(0),
            *layer.optional_arguments(otherwise=logits),
            layer.target,
            self.z_target,
            self.threshold,
            self.quotas.quota,
            self.quotas.used,
            self.record.entries,
            self.record.starts,
            *self.sums,
            first_row,
            first_token,
            logits.shape[1],
            len(layer.input),
            *self.record.entries.shape,
            HAS_BIAS=layer.bias is not None,
            SMOOTHED=layer.class_weight is not None,
            MEAN=self.mean,
            RECORDING=self.recording,
            WIDE=self.record.is_wide,
            COLUMNS=self.plan.columns,
            LANES=lanes,
            num_warps=min(RECORD_WARPS, max(1, lanes // 32)),
            **layer.scaling_arguments,
        )
