"""Write labels and rationales as JSONL, HTML or coloured text, piece by piece."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from thresher.cli.entities.highlight import heading, highlight, printable, terminal_console
from thresher.rationales.choices import RationaleMethod
from thresher.rationales.labelled_texts import LabelledText
from thresher.text.document import with_fields
from thresher.text.formats.html import HtmlDocument, to_html
from thresher.text.formats.jsonl import to_jsonl

if TYPE_CHECKING:
    from thresher.rationales.finder import Explanation, RationaleFinder


@dataclass
class RationaleWriter:
    """Finds the labels and rationales of texts and writes them in an output format.

    counts: number of texts with each label so far
    """

    finder: "RationaleFinder"
    documents: Iterable[LabelledText]
    threshold: float | None = None
    method: str = RationaleMethod.GATES
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def texts(self) -> int:
        """Number of texts labelled so far."""
        return self.counts.total()

    def explained(self) -> Iterator[tuple[LabelledText, "Explanation"]]:
        """Yield each text with its label and rationale."""
        pending: deque[LabelledText] = deque()  # read by the finder, but not explained yet

        def texts() -> Iterator[str]:
            for document in self.documents:
                pending.append(document)
                yield document.text

        explained = self.finder.explain_all(texts(), threshold=self.threshold, method=self.method)
        for explanation in explained:
            self.counts[explanation.label] += 1
            yield pending.popleft(), explanation

    def jsonl(self) -> Iterator[str]:
        """Yield a JSON line for each text: its source, label, text and spans."""
        for document, found in self.explained():
            own = {
                "source": document.source,
                "line": document.number,
                "label": found.label,
                "probability": round(found.probability, 6),
                "from_rationale": round(found.from_rationale, 6),
                "contributions": [round(each, 6) for each in found.contributions],
            }
            about = with_fields(own, document.fields, "text", "spans")
            yield to_jsonl(document.text, found.spans, about=about)

    def html(self) -> Iterator[str]:
        """Yield the pieces of one HTML page, each text with its label as heading."""
        return to_html(
            (
                HtmlDocument(
                    document.text,
                    found.spans,
                    f"{found.label} {found.probability:.2f}",
                    document.fields,
                )
                for document, found in self.explained()
            ),
            title="Rationales",
        )

    def terminal(self) -> Iterator[str]:
        """Yield coloured texts with their labels, and a heading where a new source begins."""
        console = terminal_console()
        coloured = console.color_system is not None
        source = None
        for document, found in self.explained():
            with console.capture() as captured:
                if document.source != source:
                    source = document.source
                    console.print(heading(source))
                label, probability = printable(found.label), f"  {found.probability:.2f}"
                console.print(Text.assemble((label, "bold"), (probability, "dim")))
                console.print(highlight(document.text, found.spans, coloured=coloured))
                console.print()
            yield captured.get()
        with console.capture() as captured:
            console.print(Text(printable(self._footer()), "dim"))
        yield captured.get()

    def pieces(self, output_format: str) -> Iterator[str]:
        """Yield the output in a format, piece by piece; the method has the name of the format."""
        write: Callable[[], Iterator[str]] = getattr(self, output_format)
        return write()

    def _footer(self) -> str:
        labels = ", ".join(f"{count:,} {label}" for label, count in self.counts.most_common())
        texts = "text" if self.texts == 1 else "texts"
        return f"{self.texts:,} {texts}: {labels}"
