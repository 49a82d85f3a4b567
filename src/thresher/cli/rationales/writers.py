"""Labels and rationales as JSONL, HTML or for the eye: pieces of text, as they are found."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from thresher.cli.entities.highlight import heading, highlight, safe, terminal
from thresher.rationales.labelled_texts import LabelledText
from thresher.text.formats.html import to_html
from thresher.text.formats.jsonl import to_jsonl

if TYPE_CHECKING:
    from thresher.rationales.finder import Explanation, RationaleFinder


@dataclass
class Explain:
    """One run of a finder of rationales over texts.

    counts: how many texts got each label so far
    """

    finder: "RationaleFinder"
    documents: Iterable[LabelledText]
    threshold: float | None = None
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def texts(self) -> int:
        """How many texts were labelled so far."""
        return self.counts.total()

    def explained(self) -> Iterator[tuple[LabelledText, "Explanation"]]:
        """Each text with its label and rationale."""
        ahead: deque[LabelledText] = deque()  # the finder reads some texts before the first answer

        def texts() -> Iterator[str]:
            for document in self.documents:
                ahead.append(document)
                yield document.text

        for explanation in self.finder.explain_all(texts(), threshold=self.threshold):
            self.counts[explanation.label] += 1
            yield ahead.popleft(), explanation

    def jsonl(self) -> Iterator[str]:
        """A line a text: where it came from, its label, its text, its spans."""
        for document, found in self.explained():
            place = {
                "source": document.source,
                "line": document.number,
                "label": found.label,
                "probability": round(found.probability, 6),
                "from_rationale": round(found.from_rationale, 6),
            }
            yield to_jsonl(document.text, found.spans, about=place)

    def html(self) -> Iterator[str]:
        """One page, each text under its label."""
        return to_html(
            (
                (document.text, found.spans, f"{found.label} {found.probability:.2f}")
                for document, found in self.explained()
            ),
            title="Rationales",
        )

    def terminal(self) -> Iterator[str]:
        """Coloured text under its label, under the name of its source where that changes."""
        console = terminal()
        coloured = console.color_system is not None
        source = None
        for document, found in self.explained():
            with console.capture() as shown:
                if document.source != source:
                    source = document.source
                    console.print(heading(source))
                label, sure = safe(found.label), f"  {found.probability:.2f}"
                console.print(Text.assemble((label, "bold"), (sure, "dim")))
                console.print(highlight(document.text, found.spans, coloured=coloured))
                console.print()
            yield shown.get()
        with console.capture() as shown:
            console.print(Text(safe(self._footing()), "dim"))
        yield shown.get()

    def written(self, form: str) -> Iterator[str]:
        """The pieces of the output in one of the three forms."""
        forms: dict[str, Callable[[], Iterator[str]]] = {
            "terminal": self.terminal,
            "jsonl": self.jsonl,
            "html": self.html,
        }
        return forms[form]()

    def _footing(self) -> str:
        labels = ", ".join(f"{count:,} {label}" for label, count in self.counts.most_common())
        texts = "text" if self.texts == 1 else "texts"
        return f"{self.texts:,} {texts}: {labels}"
