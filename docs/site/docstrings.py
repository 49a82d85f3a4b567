"""Convert the plain text of docstrings to reStructuredText.

Docstrings name code in single backquotes, and describe parameters as `name: description` on a line
of their own, or as several such pairs that three spaces separate.
"""

import re
from collections.abc import Iterator, Sequence

_CODE = re.compile(r"(`+[^`]+`+)")
_SPECIAL = re.compile(r"([*|\\]|(?<=\w)_\b(?!\w))")
_PARAMETER = re.compile(r"([\w, ]{1,40}?): (.*)")
_PAIRS = re.compile(r" {3,}(?=[\w, ]{1,40}?: )")


def to_restructured_text(lines: Sequence[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText."""
    converted = []
    for number, paragraph in enumerate(_paragraphs(lines)):
        first = paragraph[0]
        if first.startswith(">>>"):
            converted += paragraph
        elif first.startswith(" "):
            converted += ["::", "", *paragraph]
        elif number and all(map(_is_parameter_line, paragraph)):
            converted += _parameters(paragraph)
        else:
            converted += _text(paragraph)
        converted.append("")
    return converted


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _is_parameter_line(line: str) -> bool:
    return line.startswith(" ") or _PARAMETER.fullmatch(line) is not None


def _parameters(paragraph: Sequence[str]) -> list[str]:
    """Return a list with an item for each parameter."""
    items = []
    for line in paragraph:
        if line.startswith(" "):
            items.append(f"  {_escaped(line.strip())}")
            continue
        for pair in _PAIRS.split(line):
            name, _, description = pair.partition(": ")
            items.append(f"- **{name.strip()}**: {_escaped(description)}")
    return items


def _text(paragraph: Sequence[str]) -> list[str]:
    """Return a paragraph of prose; indented lines in it, such as formulas, stay lines."""
    lines: list[str] = []
    is_block = False
    for line in paragraph:
        if line.startswith(" ") and not is_block:
            lines += ["", "::", ""]
        elif not line.startswith(" ") and is_block:
            lines.append("")
        is_block = line.startswith(" ")
        lines.append(line if is_block else _escaped(line))
    return lines


def _escaped(line: str) -> str:
    """Return a line in which only code is marked up."""
    parts = _CODE.split(line)
    return "".join(
        f"\\ ``{part.strip('`')}``\\ "
        if number % 2
        else _SPECIAL.sub(r"\\\1", part).replace("`", r"\`")
        for number, part in enumerate(parts)
    )
