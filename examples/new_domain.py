"""Fit a finder to a new domain with raw text and a short list of known names, without labels.

    python examples/new_domain.py

The texts are laboratory notes. Compounds are written in lower case and are not in any dictionary;
about half of them are in the list of names. The script compares the fitted finder with the built-in
one on a note with compounds that are neither in the training text nor in the list.
"""

from pathlib import Path

from thresher import EntityFinder, EntitySettings, PriorKnowledge, read_texts

HERE = Path(__file__).parent
NOTE = (
    "On Monday Petrov mixed soltelin with cold saline. The soltelin turned grey, and one rat "
    "showed tremor. We sent what was left of it to Basel. Then hexvelate was tried, which Tanaka "
    "expects to be weaker."
)


def main() -> None:
    """Fit a finder and print its scores next to those of the built-in one."""
    notes = [document.text for document in read_texts(HERE / "lab-notes.txt")]
    compounds = frozenset((HERE / "compounds.txt").read_text(encoding="utf-8").split())
    fitted = EntityFinder.fit(
        notes, settings=EntitySettings(contrast=0), prior_knowledge=PriorKnowledge(names=compounds)
    )
    built_in = EntityFinder.default()

    print(NOTE, end="\n\n")
    print(f"{'':14}{'built-in':>10}{'fitted':>10}")
    scores = [_scores(finder) for finder in (built_in, fitted)]
    for name in sorted({name for each in scores for name in each}, key=NOTE.index):
        print(f"{name:14}" + "".join(f"{each.get(name, '–'):>10}" for each in scores))
    print(f"{'threshold':14}{built_in.threshold:>10.2f}{fitted.threshold:>10.2f}")


def _scores(finder: EntityFinder) -> dict[str, str]:
    """Return the highest score of every candidate of the note."""
    best: dict[str, float] = {}
    for span in finder.find(NOTE, threshold=0):
        best[span.text] = max(span.score, best.get(span.text, 0.0))
    return {name: f"{score:.2f}" for name, score in best.items()}


if __name__ == "__main__":
    main()
