"""What `thresher fit` tells of a model it made."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher import EntityFinder

Sentences = Sequence[Sequence[str]]

_SAMPLE = 500  # sentences that tell which share of words is selected


def summary_of(
    folder: Path, finder: "EntityFinder", sentences: Sentences, warnings: list[str]
) -> dict[str, Any]:
    """The figures, for a program to read."""
    from thresher.entities.priors.scripts import Writing  # noqa: PLC0415 (regex; help does without)

    return {
        "model": str(folder),
        "words": sum(map(len, sentences)),
        "sentences": len(sentences),
        "writing": str(Writing.of(sentences)),
        "priors": finder.model.learned_from["priors"],
        "selected": _selected_share(finder, sentences),
        "threshold": finder.threshold,
        "trust": asdict(finder.model.trust),
        "selectors": len(finder.model.heads),
        "selector": finder.model.entity + 1,
        "warnings": warnings,
    }


def in_words(summary: dict[str, Any]) -> str:
    """The same in a line, for a person."""
    trust = ", ".join(f"{view} {value:+.2f}" for view, value in summary["trust"].items())
    several = f"; selector {summary['selector']} of {summary['selectors']} finds entities"
    return (
        f"{summary['model']}: learned from {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences ({summary['writing']}; priors: "
        f"{', '.join(summary['priors'])}); selects {summary['selected']:.1%} of words; "
        f"threshold {summary['threshold']:.2f}; trust (log-odds) {trust}"
        + (several if summary["selectors"] > 1 else "")
    )


def _selected_share(finder: "EntityFinder", sentences: Sentences) -> float:
    """Of the words of some sentences, spread over the text."""
    sample = sentences[:: -(-len(sentences) // _SAMPLE)]
    scores = [
        float(score)
        for row in (each.scores for each in finder.score_sentences(sample))
        for score in row
    ]
    return sum(score >= finder.threshold for score in scores) / len(scores)
