"""Extract the text of Markdown: links and emphasis reduced to their text, code blocks left out."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from thresher.text.extraction.extracted_text import ExtractedText
from thresher.text.extraction.html import extract_html
from thresher.text.records import JsonObject

_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ \t]*\r?\n(.{0,20000}?\n)??\1[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_FRONT_FIELD = re.compile(r"^([A-Za-z][\w-]*)\s*[:=][ \t]*(.+?)[ \t]*$", re.MULTILINE)


def extract_markdown(text: str) -> ExtractedText:
    """Return the text of a document, and the simple values of its front matter as fields."""
    text = text.removeprefix("\ufeff")
    fields: JsonObject = {}
    if front := _FRONT_MATTER.match(text):
        found = _FRONT_FIELD.findall(front[2] or "")
        fields = {key: value.strip("\"'") for key, value in found}
        text = text[front.end() :]
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    blocks = (block.strip() for block in _blocks(parser.parse(text)))
    return ExtractedText("\n\n".join(filter(None, blocks)), fields)


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield "".join(map(_inline_text, token.children or ()))
        elif token.type == "html_block":
            yield extract_html(token.content).text


def _inline_text(token: Token) -> str:
    """Return the text of an inline token; tags and images have none."""
    if token.type in ("text", "code_inline"):
        return token.content
    is_break = token.type == "html_inline" and token.content.lower().startswith("<br")
    if token.type == "hardbreak" or is_break:
        return "\n"
    return " " if token.type == "softbreak" else ""
