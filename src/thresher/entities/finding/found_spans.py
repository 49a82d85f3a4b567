"""The entities of texts for data analysis: lists that notebooks show, columns, data frames."""

from collections.abc import Iterable, Sequence
from typing import Any

from thresher.errors import requires_extra
from thresher.text.annotations import Span
from thresher.text.formats.html import highlighted_paragraph
from thresher.text.records import is_missing

_COLUMNS = ("row", "start", "end", "text", "score", "kind")


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


def with_missing_as_empty(texts: Iterable[Any]) -> list[Any]:
    """Return the values of a column, with empty texts for missing ones."""
    return ["" if is_missing(text) else text for text in texts]


def spans_to_frame(texts: object, found: Sequence[FoundSpans]) -> Any:
    """Return a data frame with one row for each entity, and one for each text without entities.

    texts: the column; for a polars column the frame is a polars frame, otherwise a pandas frame
    """
    rows = [
        (row, span.start, span.end, span.text, span.score, span.kind)
        if span is not None
        else (row, None, None, None, None, None)
        for row, spans in enumerate(found)
        for span in (spans or [None])
    ]
    if type(texts).__module__.startswith("polars"):
        import polars  # noqa: PLC0415 (an extra, and imported already)

        types = (polars.Int64, polars.Int64, polars.Int64, polars.String, polars.Float64)
        schema = dict(zip(_COLUMNS, (*types, polars.String), strict=True))
        return polars.DataFrame(rows, schema=schema, orient="row")
    with requires_extra("pandas", "data frames need pandas"):
        import pandas  # noqa: PLC0415 (an extra, slow to import)

    frame = pandas.DataFrame(rows, columns=list(_COLUMNS))
    frame = frame.astype({"start": "Int64", "end": "Int64", "score": "Float64"})
    if isinstance(texts, pandas.Series):
        frame.index = texts.index.take(frame["row"])
    return frame
