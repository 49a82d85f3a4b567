"""The forward pass: logits a chunk at a time, turned into row sums and a record of survivors.

A chunk of logits is one matrix product, read once and then overwritten by the next. Each row of it
is one warp: which entries survive, a running log-sum-exp over them, and the survivors themselves
appended to a list that some rows share. Where in the list a row's part lands is settled by an
atomic counter and may differ between runs; what is read back through `starts` does not.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from thresher.lm.kernels.plan import Plan, spans
from thresher.lm.kernels.products import product
from thresher.lm.kernels.recording_kernels import record_kernel, target_logits_kernel

RECORD_ROWS = 8  # to a program, a warp each
RECORD_UNROLLED = 8
MOST_LISTS, ROWS_OF_A_LIST = 8, 128  # one counter for all rows would be waited for


@dataclass(frozen=True)
class Layer:
    """What turns hidden states into scaled logits.

    input: (positions, width)   weight: (vocabulary, width), of the same dtype, both contiguous
    bias: (vocabulary,), float32, or None   class_weight: the same, or None with no label smoothing
    target: (positions,), int32, −1 where ignored
    """

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    class_weight: Tensor | None
    target: Tensor
    temperature: float
    softcap: float | None

    @property
    def scale(self) -> dict[str, float | bool]:
        """As the kernels take it."""
        return {
            "temperature": self.temperature,
            "softcap": self.softcap or 1.0,
            "HAS_SOFTCAP": self.softcap is not None,
        }


class Record(NamedTuple):
    """What the forward pass leaves behind. Rows that are not `kept` have to be computed again.

    Of each position: maximum, total: max and Σ exp(z − maximum) over survivors; how many survivors;
    weights, weighted: Σ w and Σ w·z over survivors, where labels are smoothed; kept: 1 or 0
    entries: (lists, room), the survivors, see `entries.packed`; a row is in the list `list_of`
    used: (lists,), how many survivors a list has, or would have if there were room
    starts, lengths: (chunks, positions), where in all entries a row's part of a chunk is
    """

    maximum: Tensor
    total: Tensor
    weights: Tensor
    weighted: Tensor
    survivors: Tensor
    kept: Tensor
    used: Tensor
    entries: Tensor
    starts: Tensor
    lengths: Tensor


def empty_record(layer: Layer, plan: Plan, *, recording: bool) -> Record:
    """Nothing seen yet; without `recording` no row is kept."""
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    chunks = len(plan.chunks(vocabulary)) if recording else 0
    lists = min(max(positions // ROWS_OF_A_LIST, 1), MOST_LISTS)
    room = math.ceil(plan.recorded_share * positions * vocabulary / lists) if recording else 0
    wide = layer.input.dtype == torch.float32
    real = torch.zeros(positions, device=layer.input.device)
    whole = torch.zeros_like(real, dtype=torch.int32)
    return Record(
        maximum=torch.full_like(real, -math.inf),
        total=real,
        weights=torch.zeros_like(real),
        weighted=torch.zeros_like(real),
        survivors=whole,
        kept=torch.full_like(whole, recording),
        used=torch.zeros(lists, dtype=torch.int64, device=whole.device),
        entries=whole.new_empty(lists, room, dtype=torch.int64 if wide else torch.int32),
        starts=whole.new_empty(chunks, positions, dtype=torch.int64),
        lengths=whole.new_empty(chunks, positions),
    )


def list_of(rows: Tensor, lists: int, plan: Plan) -> Tensor:
    """Which of the lists holds the survivors of each row; neighbours share a program and a list."""
    return rows % plan.rows // RECORD_ROWS % lists


def target_logits(layer: Layer) -> Tensor:
    """z_target of each position, in float32; 0 where it is ignored: (positions,)."""
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
            **layer.scale,
        )
    return logits


def record_survivors(
    layer: Layer,
    z_target: Tensor,
    threshold: Tensor,
    plan: Plan,
    *,
    recording: bool,
    entropy: bool = False,
) -> Record:
    """One pass over all logits. z_target, threshold: (positions,), float32.

    entropy: put Σ exp(z − maximum)·(z − maximum) in `weighted`; only without label smoothing
    """
    record = empty_record(layer, plan, recording=recording)
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    if not positions:
        return record
    logits = torch.empty(min(plan.rows, positions), plan.columns, device=layer.input.device)
    for number, columns in enumerate(plan.chunks(vocabulary)):
        for rows in spans(positions, plan.rows):
            part = logits[: rows.stop - rows.start, : columns.stop - columns.start]
            product(layer.input[rows], layer.weight[columns].T, out=part)
            record_kernel[(triton.cdiv(part.shape[0], RECORD_ROWS),)](
                part,
                part.stride(0),
                logits if layer.bias is None else layer.bias,
                logits if layer.class_weight is None else layer.class_weight,
                layer.target,
                z_target,
                threshold,
                record.maximum,
                record.total,
                record.weights,
                record.weighted,
                record.survivors,
                record.kept,
                record.used,
                record.entries,
                record.starts[number] if recording else record.starts,
                record.lengths[number] if recording else record.lengths,
                rows.start,
                rows.stop,
                columns.start,
                part.shape[1],
                *record.entries.shape,
                plan.row_limit(columns.stop, vocabulary),
                HAS_BIAS=layer.bias is not None,
                SMOOTHED=layer.class_weight is not None,
                ENTROPY=entropy,
                RECORDING=recording,
                WIDE=record.entries.dtype == torch.int64,
                ROWS=RECORD_ROWS,
                LANES=min(32, plan.columns),
                UNROLLED=min(RECORD_UNROLLED, max(1, plan.columns // 32)),
                num_warps=RECORD_ROWS,
                **layer.scale,
            )
    return record
