"""A new domain: raw notes and a short list of known names, with no labels.

    python examples/new_domain.py

The notes are those of a laboratory. Compounds are written in lower case and their names are in no
dictionary; someone listed about half of them. What is learned from that is shown on a note with
compounds that are neither in the text nor in the list, beside what the built-in model finds.
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
    """Learn, and compare."""
    notes = [document.text for document in read_texts(HERE / "lab-notes.txt")]
    known = frozenset((HERE / "compounds.txt").read_text(encoding="utf-8").split())
    own = EntityFinder.fit(
        notes, settings=EntitySettings(contrast=0), prior_knowledge=PriorKnowledge(names=known)
    )
    built_in = EntityFinder.default()

    print(NOTE, end="\n\n")
    print(f"{'':14}{'built-in':>10}{'own':>10}")
    scores = [_scores(finder) for finder in (built_in, own)]
    for name in sorted({name for each in scores for name in each}, key=NOTE.index):
        print(f"{name:14}" + "".join(f"{each.get(name, '–'):>10}" for each in scores))
    print(f"{'threshold':14}{built_in.threshold:>10.2f}{own.threshold:>10.2f}")


def _scores(finder: EntityFinder) -> dict[str, str]:
    """Every candidate of the note with its best score."""
    best: dict[str, float] = {}
    for span in finder.find(NOTE, threshold=0):
        best[span.text] = max(span.score, best.get(span.text, 0.0))
    return {name: f"{score:.2f}" for name, score in best.items()}


if __name__ == "__main__":
    main()
