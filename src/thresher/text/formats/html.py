"""Write texts with highlighted spans as one self-contained HTML page."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from thresher.text.annotations import Span
from thresher.text.kind_colours import KindColours
from thresher.text.records import JsonObject, field_text

_HEAD = """<!doctype html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --mark: 255 176 0; --page: #fdfdfb; --ink: #1c1c1a; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --mark: 214 130 0; --page: #191a1c; --ink: #e8e6e1; }}
}}
body {{ max-width: 44rem; margin: 2rem auto; padding: 0 1rem;
  font: 1.05rem/1.7 system-ui, sans-serif; background: var(--page); color: var(--ink); }}
h2 {{ margin: 2rem 0 0; font-size: 1.1rem; overflow-wrap: anywhere; }}
p {{ white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }}
dl {{ display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 1.5rem 0 -.8rem; opacity: .75;
  font-size: .85rem; overflow-wrap: anywhere; }}
dl div {{ display: flex; gap: .35rem; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; }}
mark {{ color: inherit; padding: .1em .15em; border-radius: .25em;
  background: rgb(var(--mark) / calc(.12 + .58 * var(--score))); }}
mark[data-kind], .kinds span {{ color: #1c1c1a; background: var(--kind); padding: .1em .3em;
  border-radius: .25em; }}
mark[data-kind]::after {{ content: attr(data-kind); font-size: .7em; margin-left: .4em;
  opacity: .75; }}
.kinds {{ position: sticky; bottom: 0; margin: 2rem 0 0; padding: .6rem 0; display: flex;
  flex-wrap: wrap; gap: .3rem .8rem; background: var(--page); font-size: .9rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
"""
_FOOT = "</body>\n</html>\n"

# HTML cannot contain control characters or lone surrogates, not even escaped.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


class HtmlDocument(NamedTuple):
    """A text with its spans, a heading above it, and the fields of its record."""

    text: str
    spans: Sequence[Span]
    heading: str | None = None
    fields: JsonObject = {}  # noqa: RUF012 (never changed)


def to_html(documents: Iterable[Sequence[Any]], *, title: str = "Entities") -> Iterator[str]:
    """Yield the parts of a page: one paragraph per text, and a legend if spans have kinds.

    Spans with a kind have its colour and name; of the others, those with a high score are brighter.

    documents: `HtmlDocument`s, or tuples of their first two, three or four values
    """
    yield _HEAD.format(title=_escape(title))
    colours = KindColours()
    counts: Counter[str | None] = Counter()
    for each in documents:
        text, spans, heading, fields = HtmlDocument(*each)
        counts.update(span.kind for span in spans)
        above = "" if heading is None else f"<h2>{_escape(heading)}</h2>\n"
        above += _definitions(fields)
        yield f'{above}<p dir="auto">{"".join(_highlight(text, spans, colours))}</p>\n'
    if set(counts) - {None}:
        yield _legend(counts, colours)
    yield _FOOT


def highlighted_paragraph(text: str, spans: Sequence[Span]) -> str:
    """Return a text with marked spans as one paragraph with its own styles, for notebooks."""
    marks = []
    end = 0
    for span in spans:
        kind = "" if span.kind is None else f" <small>{_escape(span.kind)}</small>"
        style = f"background: rgb(255 176 0 / {0.12 + 0.58 * span.score:.2f}); color: inherit"
        marks.append(_escape(text[end : span.start]))
        title = f"{span.score:.2f}"
        marks.append(f'<mark style="{style}" title="{title}">{_escape(span.text)}{kind}</mark>')
        end = span.end
    marks.append(_escape(text[end:]))
    return f'<p dir="auto" style="white-space: pre-wrap">{"".join(marks)}</p>'


def _definitions(fields: JsonObject) -> str:
    """Return fields as a description list: their names and values."""
    rows = "".join(
        f"<div><dt>{_escape(name)}</dt><dd>{_escape(field_text(value))}</dd></div>"
        for name, value in fields.items()
    )
    return f"<dl>{rows}</dl>\n" if rows else ""


def _legend(counts: Counter[str | None], colours: KindColours) -> str:
    """Return the kinds with their numbers, frequent ones first, and "other" for no kind."""
    kinds = (
        f'<span style="--kind:{colours.colour(kind)}">'
        f"{'other' if kind is None else _escape(kind)} {count:,}</span>"
        for kind, count in sorted(counts.items(), key=lambda item: (item[0] is None, -item[1]))
    )
    return f'<footer class="kinds">{" ".join(kinds)}</footer>\n'


def _highlight(text: str, spans: Sequence[Span], colours: KindColours) -> Iterator[str]:
    end = 0  # of the previous span
    for span in sorted(spans, key=lambda span: span.start):
        if span.start < end or text[span.start : span.end] != span.text:
            raise ValueError(f"not a span of this text, or it overlaps another span: {span}")
        yield _escape(text[end : span.start])
        yield f"<mark {_attributes(span, colours)}>{_escape(span.text)}</mark>"
        end = span.end
    yield _escape(text[end:])


def _attributes(span: Span, colours: KindColours) -> str:
    score = f"{span.score:.2f}"
    if span.kind is None:
        return f'style="--score:{score}" title="{score}"'
    kind = _escape(span.kind)
    return f'style="--kind:{colours.colour(span.kind)}" data-kind="{kind}" title="{kind} {score}"'


def _escape(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
