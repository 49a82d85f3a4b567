"""Show texts on a terminal with their entities coloured by score."""

import os
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from thresher.bulk.chunks import DocumentSpans
from thresher.text.annotations import Span
from thresher.text.sources import display_name

# Minimum score and background colour; black on these colours is readable on dark and light themes.
SHADES = ((0.0, "#ffedb3"), (0.4, "#ffd978"), (0.6, "#ffbe33"), (0.7, "#ff9a0d"))

# Control characters must not reach the terminal; each is replaced by one character.
_CONTROL_CHARACTERS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")


def terminal() -> Console:
    """Return a console that keeps colours in a pipe, and has none if NO_COLOR is set."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(force_terminal=True, highlight=False, color_system=None if plain else "auto")


def highlighted(found: Iterable[DocumentSpans]) -> Iterator[str]:
    """Yield each text with coloured entities, with a heading where a new source begins."""
    console = terminal()
    coloured = console.color_system is not None
    source, entities = None, 0
    for document, spans in found:
        entities += len(spans)
        with console.capture() as captured:
            if document.source != source:
                source = document.source
                console.print(heading(source))
            console.print(highlight(document.text, spans, coloured=coloured))
        yield captured.get()
    with console.capture() as captured:
        console.print(_footer(entities, coloured=coloured))
    yield captured.get()


def highlight(text: str, spans: Sequence[Span], *, coloured: bool = True) -> Text:
    """Return a text with its spans coloured by score, or in brackets if there are no colours."""
    highlighted_text = Text()
    end = 0
    for span in spans:
        highlighted_text.append(safe(text[end : span.start]))
        if coloured:
            highlighted_text.append(safe(span.text), _style(span.score))
        else:
            highlighted_text.append(f"[{safe(span.text)}]")
        end = span.end
    return highlighted_text.append(safe(text[end:].rstrip()))


def heading(source: str) -> Rule:
    """Return the name of a source as a heading."""
    return Rule(Text(safe(display_name(source)), "bold"), align="left", style="dim")


def _footer(entities: int, *, coloured: bool) -> Text:
    footer = Text(f"{entities:,} {'entity' if entities == 1 else 'entities'}", "dim")
    if coloured:
        footer.append("   score from ")
        for minimum, shade in SHADES:
            footer.append(f" {minimum:.1f} ", f"not dim black on {shade}")
    return footer


def _style(score: float) -> str:
    shade = [shade for minimum, shade in SHADES if score >= minimum][-1]
    return f"black on {shade}"


def safe(text: str) -> str:
    """Replace control characters, and Windows line ends by plain ones."""
    return text.replace("\r\n", "\n").translate(_CONTROL_CHARACTERS)
