"""Split an HTML page into tags and text in linear time, as the HTML standard tokenizes it.

The parsers at hand take quadratic time or worse for some invalid pages: html.parser of Python 3.11
for 200,000 times "<a ", and parsers that build a tree for 200,000 nested elements.
"""

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

_TAG = re.compile(
    r"<(/?)([a-zA-Z][^\s/>]*+)"
    r"([^>\"']*+(?:\"[^\"]*+\"[^>\"']*+|'[^']*+'[^>\"']*+)*+)>"
)
_ATTRIBUTE = re.compile(r"([^\s=/>\"']++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++)))?+")
_MAX_ATTRIBUTES = 100
_NOT_TEXT = ("!", "?")  # after "<": comments, document types, processing instructions
# The content of these elements is text up to their end tag, whatever it looks like.
_RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_END_OF_RAW_TEXT = {tag: re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE) for tag in _RAW_TEXT}


class Tag(NamedTuple):
    """A start tag or an end tag; names are in lower case."""

    name: str
    is_end: bool
    attributes: dict[str, str]


def html_tokens(page: str) -> Iterator[Tag | str]:
    """Yield the tags of a page, and the text between them with character references decoded."""
    position = 0
    while (start := page.find("<", position)) >= 0:
        if start > position:
            yield unescape(page[position:start])
        following = page[start + 1 : start + 2]
        is_end = following == "/"
        first_letter = page[start + 2 : start + 3] if is_end else following
        if first_letter.isascii() and first_letter.isalpha():
            match = _TAG.match(page, start)
            if match is None:  # the page ends inside this tag
                return
            tag = _tag(match)
            yield tag
            position = match.end()
            if not tag.is_end and (raw_text_end := _END_OF_RAW_TEXT.get(tag.name)):
                end = raw_text_end.search(page, position)
                stop = len(page) if end is None else end.start()
                yield unescape(page[position:stop])
                position = stop
        elif is_end or following in _NOT_TEXT:
            position = _end_of_comment(page, start)
        else:
            yield "<"
            position = start + 1
    yield unescape(page[position:])


def _end_of_comment(page: str, start: int) -> int:
    """Return the end of a comment, a document type, or another construct that is not text."""
    end = "-->" if page.startswith("<!--", start) else ">"
    found = page.find(end, start + 2)
    return len(page) if found < 0 else found + len(end)


def _tag(match: re.Match[str]) -> Tag:
    is_end = bool(match[1])
    attributes: dict[str, str] = {}
    if not is_end:
        for each in islice(_ATTRIBUTE.finditer(match[3]), _MAX_ATTRIBUTES):
            value = each[2] or each[3] or each[4] or ""
            attributes.setdefault(each[1].lower(), unescape(value))
    return Tag(match[2].lower(), is_end, attributes)


def unescape(text: str) -> str:
    """Decode character references; a number that is too long is left as it is."""
    try:
        return html.unescape(text) if "&" in text else text
    except ValueError:
        return text
