# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator,assignment"
# ruff: noqa: N803
"""The Triton kernels of the forward pass."""

import triton
import triton.language as tl

from thresher.lm.losses.kernels.entries import MAX_U, packed, scaled

DEAD = tl.constexpr(float("-inf"))
LOWEST = tl.constexpr(-3.4e38)  # threshold: columns beyond the vocabulary never survive
LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def target_logits_kernel(
    input, weight, bias, target, logits, width, sharpness, softcap,
    HAS_BIAS: tl.constexpr, HAS_SOFTCAP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute z_target of one row: the dot product with one row of the weight."""
    row = tl.program_id(0).to(tl.int64)
    token = tl.load(target + row)
    known = token >= 0
    token = tl.maximum(token, 0).to(tl.int64)
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, width, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = (column < width) & known
        x = tl.load(input + row * width + column, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + token * width + column, mask=mask, other=0.0).to(tl.float32)
        products += x * w
    logit = tl.sum(products, 0)
    if HAS_BIAS:
        logit += tl.load(bias + token)
    tl.store(logits + row, tl.where(known, scaled(logit, sharpness, softcap, HAS_SOFTCAP), 0.0))


@triton.jit
def record_kernel(
    logits, stride, bias, class_weight, target, z_target, threshold, quota, used,
    entries, starts, lengths, lse, weights, weighted,
    first_row, first_token, columns, positions, lists, capacity, sharpness, softcap,
    HAS_BIAS: tl.constexpr, HAS_SOFTCAP: tl.constexpr, SMOOTHED: tl.constexpr, MEAN: tl.constexpr,
    RECORDING: tl.constexpr, WIDE: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Compute the sums over the survivors of one row in one chunk, and record the survivors.

    Logits are loaded once, one column per lane at a time, and stay in registers. The survivors of a
    lane are written after those of the lanes before it.
    """
    row = first_row + tl.program_id(0)
    first = first_token + tl.program_id(1) * COLUMNS
    lane = tl.arange(0, LANES)
    limit = tl.maximum(tl.load(threshold + row), LOWEST)
    target_token = tl.load(target + row)
    present = tl.where(target_token >= 0, columns - tl.program_id(1) * COLUMNS, 0)  # 0: ignored
    logits += tl.program_id(0).to(tl.int64) * stride + tl.program_id(1) * COLUMNS
    values, top, counts = surviving_logits(
        logits, bias + first, z_target + row, target_token - first, limit, present, lane,
        sharpness, softcap, HAS_BIAS, HAS_SOFTCAP, COLUMNS, LANES,
    )  # fmt: skip
    count = tl.sum(counts, 0)
    highest = tl.max(top, 0)
    at = first // COLUMNS * positions + row
    tl.store(lengths + at, count)
    if RECORDING:
        keep = (count <= tl.load(quota + row)) & (highest - limit < MAX_U)
        # "relaxed": the counter only assigns positions and orders no other memory accesses.
        start = tl.atomic_add(used + row % lists, tl.where(keep, count, 0), sem="relaxed")
        tl.store(starts + at, tl.where(keep, start, -1))
        entries += (row % lists).to(tl.int64) * capacity + start
        order = tl.cumsum(counts, 0) - counts
        # Loaded again, so that the compiler compares once more below instead of keeping one bit
        # for each survivor in registers.
        limit = tl.load(threshold + row)

    shift = tl.where(highest == DEAD, 0.0, highest)
    powers = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(COLUMNS // LANES):
        powers += tl.exp2((values[part] - shift) * LOG2_E)
        if RECORDING:
            alive = ~(values[part] < limit)
            entry = packed(values[part] - limit, part * LANES + lane, WIDE)
            tl.store(entries + order, entry, mask=alive & keep)
            order += alive.to(tl.int32)
    total = tl.sum(powers, 0)
    total = tl.where(total < 1, 1.0, total)  # less than 1 only if nothing survives
    tl.store(lse + at, highest + tl.log(total))
    if MEAN:
        tl.store(weighted + at, power_sum(values, shift, COLUMNS, LANES) / total)
    if SMOOTHED:
        sums, weighted_sums = class_sums(
            values, class_weight + first, present, lane, COLUMNS, LANES
        )
        tl.store(weights + at, tl.sum(sums, 0))
        tl.store(weighted + at, tl.sum(weighted_sums, 0))


@triton.jit
def surviving_logits(
    logits, bias, z_target, target_column, limit, present, lane, sharpness, softcap,
    HAS_BIAS: tl.constexpr, HAS_SOFTCAP: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Load the logits of one row in one chunk.

    present: the number of columns that exist; the others are dead
    returns: the scaled logits, −∞ for those below `limit`, as a tuple of COLUMNS / LANES blocks;
        the maximum of each lane; the number of survivors of each lane
    """
    values = ()
    top = tl.full((LANES,), DEAD, dtype=tl.float32)
    counts = tl.zeros((LANES,), dtype=tl.int32)
    for part in tl.static_range(COLUMNS // LANES):
        column = part * LANES + lane
        x = tl.load(logits + lane + part * LANES, mask=column < present, other=DEAD)
        if HAS_BIAS:
            x += tl.load(bias + column, mask=column < present, other=0.0)
        z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
        # The matrix product may round differently from the sum that gave z_target; this one counts.
        z = tl.where(column == target_column, tl.load(z_target), z)
        if HAS_SOFTCAP:
            z = tl.where(column < present, z, DEAD)
        dead = z < limit  # not ~(z ≥ limit): NaN must reach the loss
        z = tl.where(dead, DEAD, z)
        values = values + (z,)  # noqa: RUF005
        top = tl.maximum(top, z)
        counts += (~dead).to(tl.int32)
    return values, top, counts


@triton.jit
def power_sum(values, shift, COLUMNS: tl.constexpr, LANES: tl.constexpr):
    """Return Σ exp(z − shift)·z over the survivors."""
    sums = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(COLUMNS // LANES):
        z = tl.where(values[part] == DEAD, 0.0, values[part])
        sums += tl.exp2((values[part] - shift) * LOG2_E) * z
    return tl.sum(sums, 0)


@triton.jit
def class_sums(
    values, class_weight, present, lane, COLUMNS: tl.constexpr, LANES: tl.constexpr
):  # fmt: skip
    """Return Σ w and Σ w·z over the survivors of each lane, for label smoothing."""
    sums = tl.zeros((LANES,), dtype=tl.float32)
    weighted_sums = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(COLUMNS // LANES):
        column = part * LANES + lane
        w = tl.load(class_weight + column, mask=column < present, other=0.0)
        sums += tl.where(values[part] == DEAD, 0.0, w)
        weighted_sums += tl.where(values[part] == DEAD, 0.0, values[part]) * w
    return sums, weighted_sums
