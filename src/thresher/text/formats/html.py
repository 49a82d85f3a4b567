"""Write texts with highlighted spans as one self-contained HTML page."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from thresher.text.annotations import Span

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
mark {{ color: inherit; padding: .1em .15em; border-radius: .25em;
  background: rgb(var(--mark) / calc(.12 + .58 * var(--score))); }}
</style>
</head>
<body>
<h1>{title}</h1>
"""
_FOOT = "</body>\n</html>\n"

# HTML cannot contain control characters or lone surrogates, not even escaped.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


HtmlDocument = tuple[str, Sequence[Span]] | tuple[str, Sequence[Span], str]


def to_html(documents: Iterable[HtmlDocument], *, title: str = "Entities") -> Iterator[str]:
    """Yield the parts of a page: one paragraph per text; spans with a high score are brighter.

    documents: (text, spans) or (text, spans, heading)
    """
    yield _HEAD.format(title=_escape(title))
    for text, spans, *headings in documents:
        above = "".join(f"<h2>{_escape(heading)}</h2>\n" for heading in headings)
        yield f'{above}<p dir="auto">{"".join(_highlight(text, spans))}</p>\n'
    yield _FOOT


def _highlight(text: str, spans: Sequence[Span]) -> Iterator[str]:
    end = 0  # of the previous span
    for span in sorted(spans, key=lambda span: span.start):
        if span.start < end or text[span.start : span.end] != span.text:
            raise ValueError(f"not a span of this text, or it overlaps another span: {span}")
        yield _escape(text[end : span.start])
        score = f"{span.score:.2f}"
        yield f'<mark style="--score:{score}" title="{score}">{_escape(span.text)}</mark>'
        end = span.end
    yield _escape(text[end:])


def _escape(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
