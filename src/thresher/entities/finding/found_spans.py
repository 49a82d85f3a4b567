"""The entities of a text as a list that notebooks show in the text."""

from collections.abc import Iterable

from thresher.text.annotations import Span
from thresher.text.formats.html import highlighted_paragraph


class FoundSpans(list[Span]):
    """The entities of a text: a list of spans that also holds the text. It equals a plain list.

    text: the text of the spans; "" for a missing value of a column
    """

    def __init__(self, text: str, spans: Iterable[Span] = ()) -> None:
        super().__init__(spans)
        self.text = text

    def __reduce__(self) -> tuple[type["FoundSpans"], tuple[str, list[Span]]]:
        return FoundSpans, (self.text, list(self))

    def _repr_html_(self) -> str:
        """Return the text with marked entities, for notebooks."""
        return highlighted_paragraph(self.text, self)
