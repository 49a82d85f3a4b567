"""Triage before labelling: which texts would teach most if someone looked at them first?

    python examples/triage.py examples/lab-notes.txt examples/harbour.txt -o tasks.json

Paragraphs are put in the order of the mistakes to be expected in them: a candidate of score p is
taken for an entity or not, and is wrong with a probability of min(p, 1 - p). The first ones are
written as tasks for Label Studio, entities included; `thresher eval --from label-studio` reads what
comes back.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from thresher import EntityFinder, Span, read_texts
from thresher.text import to_label_studio


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, order, write."""
    options = _options().parse_args(arguments)
    texts = [
        paragraph
        for document in read_texts(options.sources)
        for paragraph in document.text.split("\n\n")
        if paragraph.strip()
    ]
    finder = EntityFinder.default()
    candidates = finder.find_all(texts, threshold=0)
    ranked = sorted(zip(texts, candidates, strict=True), key=_expected_mistakes, reverse=True)
    chosen = ranked[: options.count]

    for text, spans in chosen:
        start = " ".join(text.split())[:60]
        print(f"{_expected_mistakes((text, spans)):5.2f} mistakes expected: {start}…")
    tasks = (
        (text, [span for span in spans if span.score >= finder.threshold], None)
        for text, spans in chosen
    )
    options.output.write_text("".join(to_label_studio(tasks)), encoding="utf-8")
    print(f"{len(chosen)} of {len(texts)} paragraphs are in {options.output}")


def _expected_mistakes(read: tuple[str, Sequence[Span]]) -> float:
    return sum(min(span.score, 1 - span.score) for span in read[1])


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Which texts to label first.")
    parser.add_argument("sources", nargs="+", help="files, folders or patterns")
    parser.add_argument("-o", "--output", type=Path, default=Path("tasks.json"))
    parser.add_argument("--count", type=int, default=10, help="how many paragraphs to keep")
    return parser


if __name__ == "__main__":
    main()
