"""Long sentences as overlapping windows, so that nothing is ever cut."""

from collections.abc import Iterator


def windows(length: int, *, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Bounds of windows of at most `size` that cover range(length), neighbours sharing `overlap`.

    A length that fits gives one window; an empty one gives one empty window.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"windows of {size} cannot share {overlap}: 0 <= overlap < size")
    start = 0
    while start + size < length:
        yield start, start + size
        start += size - overlap
    yield start, length
