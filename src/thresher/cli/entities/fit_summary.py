"""The summary that `thresher fit` prints."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher import EntityFinder

Sentences = Sequence[Sequence[str]]

_SAMPLE = 500  # sentences on which the fraction of selected words is measured


def summary_of(
    folder: Path, finder: "EntityFinder", sentences: Sentences, warnings: list[str]
) -> dict[str, Any]:
    """Return the facts about a trained model, for JSON."""
    from thresher.entities.priors.scripts import ScriptProfile  # noqa: PLC0415 (regex)

    return {
        "model": str(folder),
        "words": sum(map(len, sentences)),
        "sentences": len(sentences),
        "writing": str(ScriptProfile.from_sentences(sentences)),
        "priors": finder.model.learned_from["priors"],
        "selected": _selected_fraction(finder, sentences),
        "threshold": finder.threshold,
        "trust": asdict(finder.model.signal_weights),
        "selectors": len(finder.model.selectors),
        "selector": finder.model.entity + 1,
        "warnings": warnings,
    }


def summary_line(summary: dict[str, Any]) -> str:
    """Return the summary as one line of text."""
    weights = ", ".join(f"{signal} {value:+.2f}" for signal, value in summary["trust"].items())
    several = f"; selector {summary['selector']} of {summary['selectors']} finds entities"
    return (
        f"{summary['model']}: trained on {summary['words']:,} words in "
        f"{summary['sentences']:,} sentences ({summary['writing']}; priors: "
        f"{', '.join(summary['priors'])}); selects {summary['selected']:.1%} of words; "
        f"threshold {summary['threshold']:.2f}; signal weights (log-odds): {weights}"
        + (several if summary["selectors"] > 1 else "")
    )


def _selected_fraction(finder: "EntityFinder", sentences: Sentences) -> float:
    """Return the fraction of words above the threshold in a sample spread over the text."""
    sample = sentences[:: -(-len(sentences) // _SAMPLE)]
    scores = [
        float(score)
        for row in (each.scores for each in finder.score_sentences(sample))
        for score in row
    ]
    return sum(score >= finder.threshold for score in scores) / len(scores)
