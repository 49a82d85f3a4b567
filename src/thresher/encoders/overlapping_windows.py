"""Split long sentences into overlapping windows, so that nothing is truncated."""

from collections.abc import Iterator


def overlapping_windows(length: int, *, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of windows of at most `size` that cover range(length).

    Neighbouring windows share `overlap` positions. A length that fits gives one window, and a
    length of 0 gives one empty window.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap must be at least 0 and less than size {size}, got {overlap}")
    start = 0
    while start + size < length:
        yield start, start + size
        start += size - overlap
    yield start, length
