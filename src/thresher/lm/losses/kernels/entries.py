# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Functions that the Triton kernels share: scaled logits, their gradient, and recorded survivors.

A survivor is recorded as its column within the chunk and u = z − threshold ≥ 0. For half precision
both share 32 bits: 12 of the column, 5 of the exponent and 15 of the mantissa of u, so that z is
off by at most 2⁻¹⁶·u. For float32 there are 64 bits (WIDE), and u is exact.
"""

import triton
import triton.language as tl

MAX_U = tl.constexpr(65535.0)  # a larger u needs more than 5 bits of exponent


@triton.jit
def scaled(x, sharpness, softcap, HAS_SOFTCAP: tl.constexpr):
    """Return z = sharpness·softcap·tanh(x / softcap); the sharpness is 1 / temperature."""
    if HAS_SOFTCAP:
        x = softcap * (2 * tl.sigmoid(2 * x / softcap) - 1)
    return x * sharpness  # a division would take most of the time


@triton.jit
def logit_gradient(
    z, token, mask, row, target, terms, positions, class_weight, sharpness, softcap,
    HAS_SOFTCAP: tl.constexpr, SMOOTHED: tl.constexpr,
):  # fmt: skip
    """Return (pull·p − own·[token = target] − even·w)·∂z/∂x for survivors of one row.

    terms: (6, positions), z_target, threshold, lse, pull, own, even
    """
    terms += row
    is_target = token == tl.load(target + row)
    z = tl.where(is_target, tl.load(terms), z)
    lse = tl.load(terms + 2 * positions)
    pull = tl.load(terms + 3 * positions)
    own = tl.load(terms + 4 * positions)
    gradient = pull * tl.exp(z - lse) - tl.where(is_target, own, 0.0)
    if SMOOTHED:
        even = tl.load(terms + 5 * positions)
        gradient -= even * tl.load(class_weight + token, mask=mask, other=0.0)
    if HAS_SOFTCAP:
        capped = z / (sharpness * softcap)
        gradient *= 1 - capped * capped
    return gradient * sharpness


@triton.jit
def packed(u, column, WIDE: tl.constexpr):
    """Pack u ≥ 0 and a column into one integer."""
    if WIDE:
        bits = u.to(tl.int32, bitcast=True).to(tl.int64)
        entry = (bits << 32) | column.to(tl.int64)
    else:
        # 2⁻¹¹² moves the exponent's bias from 127 to 15, which leaves the upper 4 bits empty.
        small = (u * 1.925929944387236e-34).to(tl.uint32, bitcast=True)
        upper = ((small + 128) >> 8) << 12
        entry = (upper | column.to(tl.uint32)).to(tl.int32, bitcast=True)
    return entry


@triton.jit
def unpacked(entry, WIDE: tl.constexpr):
    """Return u and the column of `packed`."""
    if WIDE:
        u = (entry >> 32).to(tl.int32).to(tl.float32, bitcast=True)
        column = (entry & 0xFFFF).to(tl.int32)
    else:
        bits = entry.to(tl.uint32, bitcast=True)
        u = ((bits >> 12) << 8).to(tl.float32, bitcast=True) * 5.192296858534828e33
        column = (bits & 0xFFF).to(tl.int32)
    return u, column


@triton.jit
def load_survivors(entries, done, length, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """Load a block of one row's survivors in one chunk, from number `done` of `length` on.

    Returns their numbers, which of them exist, u and the column.
    """
    number = done + tl.arange(0, BLOCK)
    mask = number < length
    u, column = unpacked(tl.load(entries + number, mask=mask, other=0), WIDE)
    return number, mask, u, column
