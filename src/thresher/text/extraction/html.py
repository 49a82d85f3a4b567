"""Extract the main text of HTML pages.

Scripts, navigation, page headers and footers, code blocks and hidden elements are left out. If a
page has <main> or <article>, only these are read. Character references are decoded.
"""

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from thresher.errors import InputError, WarningHandler
from thresher.text.extraction.extracted_text import ExtractedText
from thresher.text.extraction.html_elements import (
    BLOCKS,
    SELF_ENDING,
    VOID,
    Attributes,
    is_code_box,
    is_extra,
    is_listing,
    is_not_text,
)
from thresher.text.extraction.html_tokens import html_tokens
from thresher.text.streams import require_encoding

_MIN_SHARE = 0.25  # of the text that must remain if parts of a page are left out
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0\u200b]+")
_LINE_BREAK = re.compile(r" *\n *")
_READ_AS = {"iso8859-1": "cp1252", "ascii": "cp1252"}  # as browsers do


@dataclass(slots=True)
class _Block:
    """A block of text, and the elements that contain it."""

    text: str
    in_main: bool
    in_article: bool
    is_extra: bool
    link_characters: int

    @property
    def is_link(self) -> bool:
        return self.link_characters > 0.8 * len(self.text)


@dataclass(slots=True)
class _Element:
    tag: str
    is_code_box: bool
    properties: tuple[str, ...]  # that it gives to everything inside


def extract_html(page: str) -> ExtractedText:
    """Return the main text of a page, and its title as a field."""
    extractor = _Extractor()
    for token in html_tokens(page):
        if isinstance(token, str):
            extractor.add_text(token)
        elif token.is_end:
            extractor.end(token.name)
        else:
            extractor.start(token.name, token.attributes)
    extractor.end_block()
    title = " ".join("".join(extractor.title).split())
    text = "\n\n".join(block.text for block in _main_blocks(extractor.blocks))
    return ExtractedText(text, {"title": title} if title else {})


def decode_html(data: bytes, *, name: str, encoding: str | None, on_problem: WarningHandler) -> str:
    """Decode a page: with `encoding`, its byte order mark, the charset that it states, or UTF-8."""
    charset = encoding or _stated_charset(data)
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        on_problem(f"{name}: not valid {charset}; invalid bytes are read as U+FFFD")
        return data.decode(charset, errors="replace")


def _stated_charset(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    stated = _CHARSET.search(data[:4096])
    if data.startswith(codecs.BOM_UTF8) or stated is None:
        return "utf-8-sig"
    try:
        charset = require_encoding(stated[1].decode())
    except InputError:
        return "utf-8"
    # The page states its charset in ASCII, so it cannot be UTF-16.
    return "utf-8" if charset.startswith("utf-16") else _READ_AS.get(charset, charset)


class _Extractor:
    """Collects the blocks of text of a page."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.title: list[str] = []
        self._open: list[_Element] = []
        self._open_tags: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # how many open elements give each property
        self._parts: list[str] = []
        self._link_characters = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        """Open an element."""
        if tag in VOID:
            if tag == "br":
                self._parts.append("\n")
            elif tag == "hr":
                self.end_block()
            return
        if tag in BLOCKS:
            self.end_block()
        if tag in SELF_ENDING and self._open and self._open[-1].tag == tag:
            self._close()
        element = _Element(tag, is_code_box(attributes), self._properties(tag, attributes))
        self._open.append(element)
        self._open_tags[tag] += 1
        for each in element.properties:
            self._inside[each] += 1

    def _properties(self, tag: str, attributes: Attributes) -> tuple[str, ...]:
        """Return the properties that an element gives to everything inside."""
        in_content = self._inside["main"] + self._inside["article"] > 0
        in_code_box = bool(self._open) and self._open[-1].is_code_box
        is_code = (tag == "pre" and (in_code_box or is_code_box(attributes))) or (
            tag == "code" and self._inside["pre"] > 0
        )
        properties = {
            "skipped": is_code or is_not_text(tag, attributes, in_content=in_content),
            "extra": is_extra(tag, attributes),
            "main": tag == "main" or attributes.get("role") == "main",
            "article": tag == "article",
            "link": tag == "a",
            "pre": tag == "pre",
            "title": tag == "title" and not self.title and not self._inside["skipped"],
        }
        return tuple(name for name, has in properties.items() if has)

    def end(self, tag: str) -> None:
        """Close an element and all that are open inside it; ignore an end without a start."""
        if not self._open_tags[tag]:
            return
        if tag in BLOCKS:
            self.end_block()
        while self._close() != tag:
            pass

    def _close(self) -> str:
        element = self._open.pop()
        self._open_tags[element.tag] -= 1
        for each in element.properties:
            self._inside[each] -= 1
        return element.tag

    def add_text(self, data: str) -> None:
        """Add text to the current block."""
        if self._inside["title"]:
            self.title.append(data)
        elif not self._inside["skipped"]:
            text = data if self._inside["pre"] else _SPACE.sub(" ", data)
            self._parts.append(text.replace("\xad", ""))
            if self._inside["link"]:
                self._link_characters += len(text)

    def end_block(self) -> None:
        """End the current block of text."""
        joined = "".join(self._parts)
        text = joined if self._inside["pre"] else _LINE_BREAK.sub("\n", _collapse(joined))
        if text := text.strip():
            inside = self._inside
            self.blocks.append(
                _Block(
                    text,
                    in_main=inside["main"] > 0,
                    in_article=inside["article"] > 0,
                    is_extra=inside["extra"] > 0 or (inside["pre"] > 0 and is_listing(text)),
                    link_characters=self._link_characters,
                )
            )
        self._parts = []
        self._link_characters = 0


def _collapse(text: str) -> str:
    return re.sub(r" {2,}", " ", text)


def _main_blocks(blocks: list[_Block]) -> list[_Block]:
    """Return the blocks without menus and extras; those of <main> or <article> if there are any."""
    chosen = blocks
    for content in (
        [block for block in blocks if block.in_main],
        [block for block in blocks if block.in_article],
        _without_menus(blocks),
    ):
        if _length(content) > _MIN_SHARE * _length(blocks):
            chosen = content
            break
    kept = [block for block in chosen if not block.is_extra]
    return kept if _length(kept) > _MIN_SHARE * _length(chosen) else chosen


def _without_menus(blocks: list[_Block]) -> list[_Block]:
    """Leave out three or more successive blocks that are links."""
    groups = [(is_link, list(group)) for is_link, group in groupby(blocks, lambda b: b.is_link)]
    return [block for is_link, group in groups if not is_link or len(group) < 3 for block in group]


def _length(blocks: list[_Block]) -> int:
    return sum(len(block.text) for block in blocks)
