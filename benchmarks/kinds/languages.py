"""Measure the built-in kinds of the multilingual model on tune splits of five languages.

    python -m benchmarks.kinds.languages

Prints the accuracy of kinds on gold spans, where a span without a kind is wrong, and typed exact
span F1 next to untyped F1, both for people, places and organisations. For the accuracy, each
sentence is a text of its own; for F1, 512 sentences are.
"""

from benchmarks.data import DATA
from benchmarks.kinds.typed import Predictions, typed_f1, untyped_f1
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate
from thresher.text.annotations import TaggedSentence
from thresher.text.formats.conll import read_conll

_SETS = {
    "da": "ner/uner/da-train.iob2",
    **{name: f"ner/masakhaner/{name}/train.txt" for name in ("swa", "hau", "ibo", "yor")},
}
_LABELS = {"person": "PER", "place": "LOC", "organisation": "ORG"}


def accuracy(finder: EntityFinder, sentences: list[TaggedSentence]) -> float:
    """Return the fraction of gold spans with the right kind; spans of other labels are left out."""
    right = total = 0
    for sentence in sentences:
        if not sentence.spans:
            continue
        spans = [Candidate(start, end, 1.0) for start, end in sentence.spans]
        typed = finder.assign_kinds([sentence.words], [spans])[0]
        for span, label in zip(typed, sentence.labels, strict=True):
            if label in _LABELS.values():
                right += _LABELS.get(span.kind or "") == label
                total += 1
    return right / total


def gold_and_found(
    finder: EntityFinder, sentences: list[TaggedSentence]
) -> tuple[Predictions, Predictions]:
    """Return gold and found spans with their labels; found spans of other kinds have none."""
    gold = [
        {(*span, label) for span, label in zip(each.spans, each.labels, strict=True)}
        for each in sentences
    ]
    scored = finder.score_long_text([each.words for each in sentences])
    found = [
        {(c.start, c.end, _LABELS.get(c.kind or "", "")) for c in each.found(finder.threshold)}
        for each in scored
    ]
    return [{span for span in each if span[2] in _LABELS.values()} for each in gold], found


def main() -> None:
    finder = EntityFinder.load(MULTILINGUAL, device="cpu")
    for name, path in _SETS.items():
        sentences = list(read_conll(DATA / path))
        gold, found = gold_and_found(finder, sentences)
        typed = [{span for span in each if span[2]} for each in found]
        print(
            f"{name}: accuracy {accuracy(finder, sentences):.2f}, "
            f"typed F1 {typed_f1(gold, typed):.2f}, untyped F1 {untyped_f1(gold, found):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
