"""The colour of each kind of entity: the same in HTML files, on terminals and in plots."""

from collections.abc import Iterable

# Light colours on which black text is readable; amber is left for entities without a kind.
COLOURS = (
    "#9ccbff",  # blue
    "#a3e29c",  # green
    "#e0b3ff",  # violet
    "#ffb09e",  # coral
    "#7fe0dc",  # turquoise
    "#f7a3d2",  # pink
    "#d8d36f",  # olive
    "#b7b5ff",  # periwinkle
    "#d9b38c",  # brown
    "#c7c9d1",  # grey
)
NO_KIND = "#ffbe33"

# Kinds that have the same colour everywhere; other kinds get the colours that are left.
_COMMON_KINDS = ("person", "place", "organisation", "group", "product", "work", "event")


class KindColours:
    """Assigns a colour to each kind; the colours repeat if there are more than ten kinds."""

    def __init__(self, kinds: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for kind in kinds:
            self.number(kind)

    def number(self, kind: str) -> int:
        """Return the index of the kind's colour in `COLOURS`."""
        if kind not in self._numbers:
            self._numbers[kind] = self._next_number(kind)
        return self._numbers[kind]

    def colour(self, kind: str | None) -> str:
        """Return the kind's colour as #rrggbb."""
        return NO_KIND if kind is None else COLOURS[self.number(kind)]

    def _next_number(self, kind: str) -> int:
        taken = list(self._numbers.values())
        reserved = len(_COMMON_KINDS)
        if kind in _COMMON_KINDS and _COMMON_KINDS.index(kind) not in taken:
            return _COMMON_KINDS.index(kind)
        order: list[int] = [*range(reserved, len(COLOURS)), *range(reserved)]
        return min(order, key=taken.count)
