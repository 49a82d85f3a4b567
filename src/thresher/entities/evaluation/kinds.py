"""Compare kinds of entities with those of gold data: counts for each kind, and confusions.

A found entity is correct if its words and its kind are those of a gold span. Entities without a
kind are no predictions of any kind.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.entities.evaluation.metrics import Counts
from thresher.entities.finding.decoding import Candidate
from thresher.errors import InputError, did_you_mean
from thresher.text.annotations import TaggedSentence
from thresher.text.formats.tags import ENTITY_LABEL

WITHOUT_KIND = "none"  # a kind that is mapped to this name counts as no kind
NO_KIND, NOT_FOUND, NO_ENTITY = "(no kind)", "(not found)", "(no entity)"

KindNames = Mapping[str, str | None]  # the common name of each kind in gold data or predictions


@dataclass(frozen=True)
class KindEvaluation:
    """How well a finder tells kinds apart.

    counts: for each kind, exact spans with the right kind; frequent gold kinds first
    confusion: how many spans have a gold kind (or "(no entity)") and a predicted kind (or
        "(no kind)" or "(not found)"): `confusion[gold, predicted]`
    """

    counts: Mapping[str, Counts]
    confusion: Mapping[tuple[str, str], int]

    @property
    def all_kinds(self) -> Counts:
        """The counts of all kinds together."""
        each = self.counts.values()
        return Counts(
            correct=sum(counts.correct for counts in each),
            predicted=sum(counts.predicted for counts in each),
            gold=sum(counts.gold for counts in each),
        )

    def confusion_matrix(self) -> tuple[list[str], list[str], list[list[int]]]:
        """Return the names of the rows (gold), of the columns (predicted), and the rows."""
        gold = _in_order(self.counts, (row for row, _ in self.confusion), (NO_KIND, NO_ENTITY))
        predicted = _in_order(
            self.counts, (column for _, column in self.confusion), (NO_KIND, NOT_FOUND)
        )
        cells = [[self.confusion.get((row, column), 0) for column in predicted] for row in gold]
        return gold, predicted, cells

    def as_json(self) -> dict[str, Any]:
        """Return figures and counts as values that JSON can hold."""
        gold, predicted, cells = self.confusion_matrix()
        return {
            "all": self.all_kinds.as_json(),
            "kinds": {kind: counts.as_json() for kind, counts in self.counts.items()},
            "confusion": {"gold": gold, "predicted": predicted, "counts": cells},
        }


def evaluate_kinds(
    gold: Sequence[TaggedSentence],
    found: Sequence[Sequence[Candidate]],
    names: KindNames | None = None,
) -> KindEvaluation:
    """Compare the kinds of found entities with the labels of gold spans.

    A gold span with the label ENT, which files have for an entity without a kind, has no kind.

    found: the entities of each sentence
    names: new names of kinds, in gold data and in predictions; None for no kind. Others stay
    """
    names = {ENTITY_LABEL: None} | dict(names or {})
    confusion: Counter[tuple[str, str]] = Counter()
    for sentence, candidates in zip(gold, found, strict=True):
        labels = (names.get(label, label) or NO_KIND for label in sentence.labels)
        gold_kinds = dict(zip(sentence.spans, labels, strict=True))
        for each in candidates:
            kind = NO_KIND if each.kind is None else names.get(each.kind, each.kind) or NO_KIND
            confusion[gold_kinds.pop((each.start, each.end), NO_ENTITY), kind] += 1
        confusion.update((kind, NOT_FOUND) for kind in gold_kinds.values())
    return KindEvaluation(_counts(confusion), dict(confusion))


def _counts(confusion: Mapping[tuple[str, str], int]) -> dict[str, Counts]:
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (row, column), count in confusion.items():
        gold[row] += count
        predicted[column] += count
    names = _in_order((kind for kind, _ in gold.most_common()), predicted, ())
    return {
        kind: Counts(confusion.get((kind, kind), 0), predicted[kind], gold[kind])
        for kind in names
        if kind not in (NO_KIND, NOT_FOUND, NO_ENTITY)
    }


def _in_order(first: Iterable[str], present: Iterable[str], last: Sequence[str]) -> list[str]:
    """Return the names without repetition; those of `last` at the end, if they are present."""
    present = list(present)
    names = [name for name in dict.fromkeys([*first, *present]) if name not in last]
    return [*names, *(name for name in last if name in present)]


def labels_of(gold: Iterable[TaggedSentence]) -> list[str]:
    """Return the labels of gold spans, without those that say nothing about a kind."""
    labels = Counter(label for sentence in gold for label in sentence.labels)
    return [label for label, _ in labels.most_common() if label not in ("", ENTITY_LABEL)]


def kind_names(
    labels: Sequence[str], kinds: Sequence[str], kind_map: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Return the common names of gold labels and of a finder's kinds.

    A label or name that differs from a kind only in case is this kind: PERSON is person.

    kind_map: further names, such as {"PER": "person"}; "none" stands for no kind. A name is a kind
        of the finder, a label, or one to which a label and a kind are both mapped
    """
    by_case = {kind.casefold(): kind for kind in kinds}
    names: dict[str, str | None] = {
        label: by_case[label.casefold()] for label in labels if label.casefold() in by_case
    }
    kind_map = {
        name: by_case.get(target.casefold(), target) for name, target in (kind_map or {}).items()
    }
    common = {kind_map[each] for each in kinds if each in kind_map}
    common &= {kind_map[each] for each in labels if each in kind_map}
    for name, target in kind_map.items():
        if name not in labels and name not in kinds:
            known = [*labels, *kinds]
            raise InputError(
                f"`kind_map`: {name!r} is neither a label of the gold data nor a kind of the model "
                f"({', '.join(known)}){did_you_mean(name, known)}"
            )
        if target not in {*labels, *kinds, *common, WITHOUT_KIND}:
            raise InputError(
                f"`kind_map`: {target!r}, the new name of {name}, is neither a kind of the model "
                f"({', '.join(kinds)}) nor a label of the gold data ({', '.join(labels)})"
                f"{did_you_mean(target, [*kinds, *labels])}"
            )
        names[name] = None if target == WITHOUT_KIND else target
    return names
