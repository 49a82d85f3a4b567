"""Choose the texts that are most useful to label first.

    python examples/triage.py examples/lab-notes.txt examples/harbour.txt -o tasks.json

Paragraphs are sorted by the expected number of mistakes: the decision on a candidate with score p
is wrong with a probability of min(p, 1 - p). The first paragraphs are written as tasks for Label
Studio, including the entities found; `thresher eval --from label-studio` reads the corrected tasks.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from thresher import EntityFinder, Span, read_texts
from thresher.text import to_label_studio


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the texts, sort their paragraphs and write the first ones."""
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
        print(f"{_expected_mistakes((text, spans)):5.2f} expected mistakes: {start}…")
    tasks = (
        (text, [span for span in spans if span.score >= finder.threshold], None)
        for text, spans in chosen
    )
    options.output.write_text("".join(to_label_studio(tasks)), encoding="utf-8")
    print(f"wrote {len(chosen)} of {len(texts)} paragraphs to {options.output}")


def _expected_mistakes(scored: tuple[str, Sequence[Span]]) -> float:
    _, spans = scored
    return sum(min(span.score, 1 - span.score) for span in spans)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Choose the texts to label first.")
    parser.add_argument("sources", nargs="+", help="files, folders or patterns")
    parser.add_argument("-o", "--output", type=Path, default=Path("tasks.json"))
    parser.add_argument("--count", type=int, default=10, help="number of paragraphs to write")
    return parser


if __name__ == "__main__":
    main()
