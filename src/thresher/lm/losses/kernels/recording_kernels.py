# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator,assignment"
# ruff: noqa: N803, PLR0915
"""The Triton kernels of the forward pass."""

import triton
import triton.language as tl

from thresher.lm.losses.kernels.entries import TOO_FAR, packed, scaled

DEAD = tl.constexpr(float("-inf"))
LOWEST = tl.constexpr(-3.4e38)  # threshold: what is not there never survives
LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def target_logits_kernel(
    input,
    weight,
    bias,
    target,
    logits,
    width,
    sharpness,
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
    tl.store(logits + row, tl.where(known, scaled(logit, sharpness, softcap, HAS_SOFTCAP), 0.0))


@triton.jit
def record_kernel(
    logits,
    stride,
    bias,
    class_weight,
    target,
    z_target,
    threshold,
    quota,
    used,
    entries,
    starts,
    lengths,
    lse,
    weights,
    weighted,
    first_row,
    first_token,
    columns,
    positions,
    lists,
    room,
    sharpness,
    softcap,
    HAS_BIAS: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    SMOOTHED: tl.constexpr,
    MEAN: tl.constexpr,
    RECORDING: tl.constexpr,
    WIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    LANES: tl.constexpr,
):
    """One row of one chunk: sums over its survivors, and the survivors themselves.

    Logits are read once, a column to a lane at a time, and stay in registers. Each lane's survivors
    come after those of the lanes before it.
    """
    row = first_row + tl.program_id(0)
    first = first_token + tl.program_id(1) * COLUMNS
    lane = tl.arange(0, LANES)
    limit = tl.maximum(tl.load(threshold + row), LOWEST)
    wanted = tl.load(target + row)
    present = tl.where(wanted >= 0, columns - tl.program_id(1) * COLUMNS, 0)  # 0 where ignored
    logits += tl.program_id(0).to(tl.int64) * stride + tl.program_id(1) * COLUMNS
    held = ()
    top = tl.full((LANES,), DEAD, dtype=tl.float32)
    counts = tl.zeros((LANES,), dtype=tl.int32)
    for part in tl.static_range(COLUMNS // LANES):
        column = part * LANES + lane
        x = tl.load(logits + lane + part * LANES, mask=column < present, other=DEAD)
        if HAS_BIAS:
            x += tl.load(bias + first + column, mask=column < present, other=0.0)
        z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
        # The product may round another way than the sum that made z_target, which is what counts.
        z = tl.where(column == wanted - first, tl.load(z_target + row), z)
        if HAS_SOFTCAP:
            z = tl.where(column < present, z, DEAD)
        dead = z < limit  # not ~(z ≥ limit): NaN must be seen in the loss
        z = tl.where(dead, DEAD, z)
        held = held + (z,)  # noqa: RUF005
        top = tl.maximum(top, z)
        counts += (~dead).to(tl.int32)
    found = tl.sum(counts, 0)
    highest = tl.max(top, 0)
    at = first // COLUMNS * positions + row
    tl.store(lengths + at, found)
    if RECORDING:
        keep = (found <= tl.load(quota + row)) & (highest - limit < TOO_FAR)
        # Nothing but the place is settled here: no other memory needs to be seen in order.
        start = tl.atomic_add(used + row % lists, tl.where(keep, found, 0), sem="relaxed")
        tl.store(starts + at, tl.where(keep, start, -1))
        entries += (row % lists).to(tl.int64) * room + start
        order = tl.cumsum(counts, 0) - counts
        # Read anew, so that survivors are told by one more comparison rather than by a bit each
        # that the compiler would keep from above.
        limit = tl.load(threshold + row)

    shift = tl.where(highest == DEAD, 0.0, highest)
    powers = tl.zeros((LANES,), dtype=tl.float32)
    for part in tl.static_range(COLUMNS // LANES):
        powers += tl.exp2((held[part] - shift) * LOG2_E)
        if RECORDING:
            alive = ~(held[part] < limit)
            entry = packed(held[part] - limit, part * LANES + lane, WIDE)
            tl.store(entries + order, entry, mask=alive & keep)
            order += alive.to(tl.int32)
    total = tl.sum(powers, 0)
    total = tl.where(total < 1, 1.0, total)  # only where nothing survives
    tl.store(lse + at, highest + tl.log(total))
    if MEAN:
        sums = tl.zeros((LANES,), dtype=tl.float32)
        for part in tl.static_range(COLUMNS // LANES):
            z = tl.where(held[part] == DEAD, 0.0, held[part])
            sums += tl.exp2((held[part] - shift) * LOG2_E) * z
        tl.store(weighted + at, tl.sum(sums, 0) / total)
    if SMOOTHED:
        sums = tl.zeros((LANES,), dtype=tl.float32)
        weighted_sums = tl.zeros((LANES,), dtype=tl.float32)
        for part in tl.static_range(COLUMNS // LANES):
            column = part * LANES + lane
            w = tl.load(class_weight + first + column, mask=column < present, other=0.0)
            sums += tl.where(held[part] == DEAD, 0.0, w)
            weighted_sums += tl.where(held[part] == DEAD, 0.0, held[part]) * w
        tl.store(weights + at, tl.sum(sums, 0))
        tl.store(weighted + at, tl.sum(weighted_sums, 0))
