"""The forward pass: logits some chunks at a time, turned into row sums and a record of survivors.

A step over the vocabulary is one matrix product, read once and then overwritten by the next. Each
row of each chunk is a program of its own: which entries survive, their log-sum-exp, and the
survivors themselves appended to a list that some rows share. Where in the list they land is settled
by an atomic counter and may differ between runs; what is read back through `starts` does not.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import triton
from torch import Tensor

from thresher.lm.losses.kernels.plan import Plan, spans
from thresher.lm.losses.kernels.products import product
from thresher.lm.losses.kernels.rationing import Room, lists
from thresher.lm.losses.kernels.recording_kernels import record_kernel, target_logits_kernel

RECORD_LANES, RECORD_WARPS = 128, 4


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
            "sharpness": 1 / self.temperature,
            "softcap": self.softcap or 1.0,
            "HAS_SOFTCAP": self.softcap is not None,
        }


class Record(NamedTuple):
    """What the forward pass leaves behind. Rows that are not `kept` have to be computed again.

    Of each position: lse: log Σ exp z over survivors; weights, weighted: Σ w and Σ w·z over them
    where labels are smoothed; survivors: how many; kept: whether all of them are in the record
    entries: (lists, room), the survivors, see `entries.packed`; row i is in the list i % lists
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


def empty_record(layer: Layer, plan: Plan, *, recording: bool) -> Record:
    """Of the right shapes, with nothing in it; without `recording` no row will be kept."""
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    chunks = plan.chunks(vocabulary) if recording else 0
    many = lists(positions)
    room = math.ceil(plan.recorded_share * positions * vocabulary / max(1, many))
    wide = layer.input.dtype == torch.float32
    real = layer.input.new_empty(positions, dtype=torch.float32)
    whole = torch.empty_like(real, dtype=torch.int32)
    return Record(
        lse=real,
        weights=torch.empty_like(real),
        weighted=torch.empty_like(real),
        survivors=whole,
        kept=torch.empty_like(whole, dtype=torch.bool),
        entries=whole.new_empty(many, room * recording, dtype=torch.int64 if wide else torch.int32),
        starts=whole.new_empty(chunks, positions),
        lengths=whole.new_empty(chunks, positions),
    )


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
    mean: bool = False,
) -> Record:
    """One pass over all logits. z_target, threshold: (positions,), float32.

    mean: put the mean logit of the softmax over survivors in `weighted`; without smoothing only
    """
    record = empty_record(layer, plan, recording=recording)
    positions, vocabulary = layer.input.shape[0], layer.weight.shape[0]
    if not positions:
        return record
    rows_at_once = plan.rows(positions)
    width = plan.width(rows_at_once, plan.logits_elements, vocabulary)
    logits = torch.empty(rows_at_once, width, device=layer.input.device)
    sums = _Sums.empty(plan.chunks(vocabulary), layer, mean=mean)
    room = Room.empty(positions, record.entries.shape[1], plan.chunks(width), logits.device)
    for columns in spans(vocabulary, width):
        for rows in spans(positions, rows_at_once):
            part = logits[: rows.stop - rows.start, : columns.stop - columns.start]
            product(layer.input[rows], layer.weight[columns].T, out=part)
            firsts = rows.start, columns.start
            _record_part(
                part, firsts, layer, z_target, threshold, record, sums, room, plan, recording, mean
            )
        if recording:
            done = slice(columns.start // plan.columns, plan.chunks(columns.stop))
            room.share_out(
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
        kept=room.quota >= 0 if recording else room.quota < 0,
        lengths=sums.lengths if recording else record.lengths,
    )


def _record_part(
    logits: Tensor,
    firsts: tuple[int, int],
    layer: Layer,
    z_target: Tensor,
    threshold: Tensor,
    record: Record,
    sums: "_Sums",
    room: Room,
    plan: Plan,
    recording: bool,
    mean: bool,
) -> None:
    """Take in the logits of some rows and columns, the first of which are given."""
    lanes = min(RECORD_LANES, plan.columns)
    record_kernel[(logits.shape[0], plan.chunks(logits.shape[1]))](
        logits,
        logits.stride(0),
        logits if layer.bias is None else layer.bias,
        logits if layer.class_weight is None else layer.class_weight,
        layer.target,
        z_target,
        threshold,
        room.quota,
        room.used,
        record.entries,
        record.starts,
        *sums,
        *firsts,
        logits.shape[1],
        len(layer.input),
        *record.entries.shape,
        HAS_BIAS=layer.bias is not None,
        SMOOTHED=layer.class_weight is not None,
        MEAN=mean,
        RECORDING=recording,
        WIDE=record.entries.dtype == torch.int64,
        COLUMNS=plan.columns,
        LANES=lanes,
        num_warps=min(RECORD_WARPS, max(1, lanes // 32)),
        **layer.scale,
    )


class _Sums(NamedTuple):
    """As in `Record`, of each chunk: (chunks, positions), or (0, positions) if not asked for."""

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
