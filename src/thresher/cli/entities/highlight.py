"""Show texts on a terminal with their entities coloured by kind, or by score without kinds."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from thresher.bulk.chunks import DocumentSpans
from thresher.cli.errors import without_control_characters
from thresher.text.annotations import Span
from thresher.text.kind_colours import KindColours
from thresher.text.records import JsonObject, field_text
from thresher.text.sources import display_name

# Minimum score and background colour; black on these colours is readable on dark and light themes.
SHADES = ((0.0, "#ffedb3"), (0.4, "#ffd978"), (0.6, "#ffbe33"), (0.7, "#ff9a0d"))

NO_KIND = "other"  # how the legend calls entities without a kind

# Without colours, entities are in brackets; these characters of the text get a backslash.
_ESCAPED = {ord(character): f"\\{character}" for character in "\\[]"}
_ESCAPED_IN_ENTITIES = _ESCAPED | {ord("|"): "\\|"}


def terminal_console() -> Console:
    """Return a console that keeps colours in a pipe.

    It has none if NO_COLOR is set, or if the terminal has only 16 colours: all shades would be one
    of them, and kinds could not be told apart.
    """
    console = Console(force_terminal=True, highlight=False, color_system="auto")
    if os.environ.get("NO_COLOR") or console.color_system not in ("256", "truecolor"):
        return Console(force_terminal=True, highlight=False, color_system=None)
    return console


def highlighted_documents(found: Iterable[DocumentSpans]) -> Iterator[str]:
    """Yield each text with coloured entities, with a heading where a new source begins."""
    console = terminal_console()
    coloured = console.color_system is not None
    colours = KindColours()
    kinds: Counter[str | None] = Counter()
    source = None
    for document, spans in found:
        kinds.update(span.kind for span in spans)
        with console.capture() as captured:
            if document.source != source:
                source = document.source
                console.print(heading(source))
            if document.fields:
                console.print(_field_line(document.fields), no_wrap=True, overflow="ellipsis")
            console.print(highlight(document.text, spans, coloured=coloured, colours=colours))
        yield captured.get()
    with console.capture() as captured:
        console.print(_footer(kinds, colours if coloured else None))
    yield captured.get()


def highlight(
    text: str,
    spans: Sequence[Span],
    *,
    coloured: bool = True,
    colours: KindColours | None = None,
) -> Text:
    """Return a text with its spans coloured by kind; those without a kind are coloured by score.

    Without colours, spans are in brackets: [Oslo] or, with a kind, [Oslo|place]. Brackets and
    backslashes of the text itself are then preceded by a backslash.
    """
    colours = colours or KindColours()
    highlighted_text = Text()
    end = 0
    for span in spans:
        highlighted_text.append(_between(text[end : span.start], coloured=coloured))
        if coloured:
            highlighted_text.append(printable(span.text), _style(span, colours))
        else:
            highlighted_text.append(_in_brackets(span))
        end = span.end
    return highlighted_text.append(_between(text[end:].rstrip(), coloured=coloured))


def _between(text: str, *, coloured: bool) -> str:
    return printable(text) if coloured else printable(text).translate(_ESCAPED)


def _in_brackets(span: Span) -> str:
    kind = "" if span.kind is None else f"|{printable(span.kind).translate(_ESCAPED_IN_ENTITIES)}"
    return f"[{printable(span.text).translate(_ESCAPED_IN_ENTITIES)}{kind}]"


def heading(source: str) -> Rule:
    """Return the name of a source as a heading."""
    return Rule(Text(printable(display_name(source)), "bold"), align="left", style="dim")


def _field_line(fields: JsonObject) -> Text:
    """Return the fields of a record as one line: "id 5   lang en"."""
    values = (f"{name} {field_text(value)}" for name, value in fields.items())
    return Text(" ".join(printable("   ".join(values)).splitlines()), "dim")


def _footer(kinds: Counter[str | None], colours: KindColours | None) -> Text:
    """Return the number of entities and a legend: kinds with their numbers, or shades of scores.

    colours: None if there are no colours
    """
    entities = kinds.total()
    footer = Text(f"{entities:,} {'entity' if entities == 1 else 'entities'}", "dim")
    if set(kinds) <= {None}:
        if colours is not None:
            footer.append("   score from ")
            for minimum, shade in SHADES:
                footer.append(f" {minimum:.1f} ", f"not dim black on {shade}")
        return footer
    for kind, count in sorted(kinds.items(), key=lambda item: (item[0] is None, -item[1])):
        name = NO_KIND if kind is None else printable(kind)
        footer.append("   ")
        footer.append(f" {name} ", _background(colours.colour(kind)) if colours else "")
        footer.append(f" {count:,}")
    return footer


def _style(span: Span, colours: KindColours) -> str:
    if span.kind is not None:
        return f"black on {colours.colour(span.kind)}"
    shade = [shade for minimum, shade in SHADES if span.score >= minimum][-1]
    return f"black on {shade}"


def _background(colour: str) -> str:
    return f"not dim black on {colour}"


def printable(text: str) -> str:
    """Replace control characters, and Windows line ends by plain ones."""
    return without_control_characters(text.replace("\r\n", "\n"))
