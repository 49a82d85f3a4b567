# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803, PLR0915
"""The Triton kernels of the forward pass."""

import triton
import triton.language as tl

from thresher.lm.kernels.entries import TOO_FAR, packed, scaled


@triton.jit
def target_logits_kernel(
    input,
    weight,
    bias,
    target,
    logits,
    width,
    temperature,
    softcap,
    HAS_BIAS: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """z_target of one row: an indexed dot product."""
    row = tl.program_id(0).to(tl.int64)
    token = tl.load(target + row)
    known = token >= 0
    token = tl.maximum(token, 0).to(tl.int64)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, width, BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = (place < width) & known
        x = tl.load(input + row * width + place, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + token * width + place, mask=mask, other=0.0).to(tl.float32)
        products += x * w
    logit = tl.sum(products, 0)
    if HAS_BIAS:
        logit += tl.load(bias + token)
    tl.store(logits + row, tl.where(known, scaled(logit, temperature, softcap, HAS_SOFTCAP), 0.0))


@triton.jit
def record_kernel(
    logits,
    stride,
    bias,
    class_weight,
    target,
    z_target,
    threshold,
    maximum,
    total,
    weights,
    weighted,
    survivors,
    kept,
    used,
    entries,
    starts,
    lengths,
    first_row,
    last_row,
    first_column,
    columns,
    lists,
    room,
    row_limit,
    temperature,
    softcap,
    HAS_BIAS: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    SMOOTHED: tl.constexpr,
    ENTROPY: tl.constexpr,
    RECORDING: tl.constexpr,
    WIDE: tl.constexpr,
    ROWS: tl.constexpr,
    LANES: tl.constexpr,
    UNROLLED: tl.constexpr,
):
    """Take in a chunk of the logits of some rows: sums over survivors, and the survivors."""
    # A row belongs to a warp and a lane to a thread: rows do not wait for each other until the room
    # for their survivors is asked for. Lanes come first, as Triton lays out scattered stores so.
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row = first_row + place
    present = row < last_row
    wanted = tl.load(target + row, mask=present, other=-1)
    z_wanted = tl.load(z_target + row, mask=present, other=0.0)
    limit = tl.load(threshold + row, mask=present, other=0.0)
    lane = tl.arange(0, LANES)
    logits += place.to(tl.int64)[None, :] * stride

    top = tl.full((LANES, ROWS), float("-inf"), dtype=tl.float32)
    counts = tl.zeros((LANES, ROWS), dtype=tl.int32)
    for begin in range(0, columns, LANES * UNROLLED):
        for part in tl.static_range(UNROLLED):
            z, alive = _survivors(
                logits,
                bias,
                begin + part * LANES + lane,
                columns,
                first_column,
                wanted,
                z_wanted,
                limit,
                temperature,
                softcap,
                HAS_BIAS,
                HAS_SOFTCAP,
            )
            top = tl.where(alive, tl.maximum(top, z), top)
            counts += alive.to(tl.int32)
    found = tl.sum(counts, 0)
    here = tl.max(top, 0)
    before = tl.load(maximum + row, mask=present, other=0.0)
    highest = tl.maximum(before, here)
    shift = tl.where(highest == float("-inf"), 0.0, highest)
    seen = found + tl.load(survivors + row, mask=present, other=0)
    order = tl.cumsum(counts, 0) - counts
    keep = present
    start = tl.zeros((ROWS,), dtype=tl.int64)
    if RECORDING:
        keep = tl.load(kept + row, mask=present, other=0) != 0
        keep = keep & (seen <= row_limit) & (tl.maximum(here, z_wanted) - limit < TOO_FAR)
        taken = tl.where(keep, found, 0)
        together = tl.sum(taken, 0)
        shared = tl.program_id(0) % lists
        first = tl.atomic_add(used + shared, together.to(tl.int64))
        start = first + shared.to(tl.int64) * room + tl.cumsum(taken, 0) - taken
        keep = keep & (first + together <= room)

    powers = tl.zeros((LANES, ROWS), dtype=tl.float32)
    sums = tl.zeros((LANES, ROWS), dtype=tl.float32)
    weighted_sums = tl.zeros((LANES, ROWS), dtype=tl.float32)
    for begin in range(0, columns, LANES * UNROLLED):
        for part in tl.static_range(UNROLLED):
            column = begin + part * LANES + lane
            z, alive = _survivors(
                logits,
                bias,
                column,
                columns,
                first_column,
                wanted,
                z_wanted,
                limit,
                temperature,
                softcap,
                HAS_BIAS,
                HAS_SOFTCAP,
            )
            power = tl.where(alive, tl.exp(z - shift[None, :]), 0.0)
            powers += power
            if ENTROPY:
                weighted_sums += tl.where(alive, power * (z - shift[None, :]), 0.0)
            if SMOOTHED:
                token = first_column + column
                w = tl.load(class_weight + token, mask=column < columns, other=0.0)[:, None]
                sums += tl.where(alive, w, 0.0)
                weighted_sums += tl.where(alive, w * z, 0.0)
            if RECORDING:
                entry = packed(z - limit[None, :], column[:, None], WIDE)
                at = entries + (start[None, :] + order)
                tl.store(at, entry, mask=alive & keep[None, :])
                order += alive.to(tl.int32)

    total_before = tl.load(total + row, mask=present, other=0.0)
    total_now = total_before * tl.exp(before - shift) + tl.sum(powers, 0)
    tl.store(total + row, total_now, mask=present)
    tl.store(maximum + row, highest, mask=present)
    tl.store(survivors + row, seen, mask=present)
    if SMOOTHED:
        weights_now = tl.load(weights + row, mask=present, other=0.0) + tl.sum(sums, 0)
        weighted_now = tl.load(weighted + row, mask=present, other=0.0) + tl.sum(weighted_sums, 0)
        tl.store(weights + row, weights_now, mask=present)
        tl.store(weighted + row, weighted_now, mask=present)
    if ENTROPY:
        moved = tl.where(before == float("-inf"), 0.0, before - shift)
        heat = tl.load(weighted + row, mask=present, other=0.0) + total_before * moved
        heat = heat * tl.exp(moved) + tl.sum(weighted_sums, 0)
        tl.store(weighted + row, heat, mask=present)
    if RECORDING:
        tl.store(kept + row, keep.to(tl.int32), mask=present)
        tl.store(lengths + row, found, mask=present)
        tl.store(starts + row, start, mask=present)


@triton.jit
def _survivors(
    logits,
    bias,
    column,
    columns,
    first_column,
    wanted,
    z_wanted,
    limit,
    temperature,
    softcap,
    HAS_BIAS: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
):
    """Scaled logits of some columns of some rows, and which of them survive."""
    token = first_column + column
    inside = (column < columns)[:, None] & (wanted >= 0)[None, :]
    x = tl.load(logits + column[:, None], mask=inside, other=0.0)
    if HAS_BIAS:
        x += tl.load(bias + token, mask=column < columns, other=0.0)[:, None]
    z = scaled(x, temperature, softcap, HAS_SOFTCAP)
    # The product may round another way than the sum that made z_target, which is what counts.
    z = tl.where(token[:, None] == wanted[None, :], z_wanted[None, :], z)
    return z, inside & ~(z < limit[None, :])  # not z ≥ limit: NaN must be seen in the loss
