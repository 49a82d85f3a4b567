"""Texts on a terminal: entities stand out, the more the surer they are."""

import os
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from thresher.bulk.chunks import Found
from thresher.text.annotations import Span
from thresher.text.sources import display_name

# From this score on, this shade: black on cream to orange reads well on dark and on light.
SHADES = ((0.0, "#ffedb3"), (0.4, "#ffd978"), (0.6, "#ffbe33"), (0.7, "#ff9a0d"))

# Signs that steer a terminal must not reach it; each keeps its place.
_STEERING = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")


def terminal() -> Console:
    """One that writes for a terminal also into a pipe; with NO_COLOR set, letters alone."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(force_terminal=True, highlight=False, color_system=None if plain else "auto")


def highlighted(found: Iterable[Found]) -> Iterator[str]:
    """Each text with its entities, under the name of its source where that changes."""
    console = terminal()
    coloured = console.color_system is not None
    source, entities = None, 0
    for document, spans in found:
        entities += len(spans)
        with console.capture() as shown:
            if document.source != source:
                source = document.source
                console.print(heading(source))
            console.print(highlight(document.text, spans, coloured=coloured))
        yield shown.get()
    with console.capture() as shown:
        console.print(_footing(entities, coloured=coloured))
    yield shown.get()


def highlight(text: str, spans: Sequence[Span], *, coloured: bool = True) -> Text:
    """A text whose spans are shaded by their scores, or bracketed where there are no colours."""
    shown = Text()
    done = 0
    for span in spans:
        shown.append(safe(text[done : span.start]))
        if coloured:
            shown.append(safe(span.text), _style(span.score))
        else:
            shown.append(f"[{safe(span.text)}]")
        done = span.end
    return shown.append(safe(text[done:].rstrip()))


def heading(source: str) -> Rule:
    """The name of a source, above its texts."""
    return Rule(Text(safe(display_name(source)), "bold"), align="left", style="dim")


def _footing(entities: int, *, coloured: bool) -> Text:
    footing = Text(f"{entities:,} {'entity' if entities == 1 else 'entities'}", "dim")
    if coloured:
        footing.append("   score from ")
        for least, shade in SHADES:
            footing.append(f" {least:.1f} ", f"not dim black on {shade}")
    return footing


def _style(score: float) -> str:
    shade = [shade for least, shade in SHADES if score >= least][-1]
    return f"black on {shade}"


def safe(text: str) -> str:
    """Text without the signs that steer a terminal; a line end of Windows is one of any."""
    return text.replace("\r\n", "\n").translate(_STEERING)
