"""Check the kinds of entities that a user wants to keep."""

from collections.abc import Collection

from thresher.errors import InputError, did_you_mean


def checked_kinds(only: Collection[str] | None, known: Collection[str]) -> frozenset[str] | None:
    """Return the kinds to keep; None for all of them.

    Raises InputError if `only` is empty, or contains a kind that is not in `known`.
    """
    if only is None:
        return None
    kinds = frozenset([only] if isinstance(only, str) else only)
    if not known:
        raise InputError("`only` needs kinds, but the model knows none; describe them with `kinds`")
    if not kinds:
        raise InputError(f"`only` contains no kind; choose from {', '.join(known)}")
    for kind in sorted(kinds.difference(known)):
        hint = did_you_mean(kind, known)
        raise InputError(f"unknown kind {kind!r} in `only`; choose from {', '.join(known)}{hint}")
    return kinds
