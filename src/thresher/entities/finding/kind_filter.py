"""Check which entities a user wants to keep: those with a minimum score, of some kinds."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from thresher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import TextFinder


def checked_filter(
    finder: "TextFinder", threshold: float | None, only: Collection[str | None] | None
) -> tuple[float, frozenset[str | None] | None]:
    """Return the minimum score and the kinds of the entities to keep, None for all kinds.

    threshold: by default that of the finder   only: as in `checked_kinds`
    """
    if threshold is None:
        threshold = finder.threshold
    elif not 0 <= threshold <= 1:
        raise InputError(f"`threshold` must be between 0 and 1, got {threshold}")
    return threshold, checked_kinds(only, finder.kinds)


def checked_kinds(
    only: Collection[str | None] | None, known: Collection[str]
) -> frozenset[str | None] | None:
    """Return the kinds to keep; None for all of them.

    only: may contain None, for entities without a kind

    Raises InputError if `only` is empty, or contains a kind that is not in `known`.
    """
    if only is None:
        return None
    kinds: frozenset[str | None] = frozenset([only] if isinstance(only, str) else only)
    if not known:
        raise InputError("`only` needs kinds, but the model knows none; describe them with `kinds`")
    if not kinds:
        raise InputError(f"`only` contains no kind; choose from {', '.join(known)}")
    for kind in sorted(each for each in kinds if each is not None and each not in known):
        hint = did_you_mean(kind, known)
        raise InputError(f"unknown kind {kind!r} in `only`; choose from {', '.join(known)}{hint}")
    return kinds
