"""Check the kinds of entities that a user wants to keep."""

from collections.abc import Collection

from thresher.errors import InputError, did_you_mean


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
