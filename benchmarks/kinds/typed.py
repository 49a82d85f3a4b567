"""Typed exact span F1 of the finder with kinds, and of spaCy."""

from functools import cache
from typing import Any

from benchmarks.entities.peers import spacy_docs
from benchmarks.kinds.data import WITH_TEXT, TypedSet, domain_text, examples_of, label_of
from thresher.entities.finder import EntityFinder

_PERSON, _ORG = {"PERSON"}, {"ORG"}
_PLACE = {"GPE", "LOC", "FAC"}
_MISC = {"NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LANGUAGE", "LAW"}
# The labels of a set by the labels of spaCy; other entities of spaCy are left out.
SPACY_LABELS = {
    "wikigold": {"per": _PERSON, "org": _ORG, "loc": _PLACE, "misc": _MISC},
    "ewt": {"per": _PERSON, "org": _ORG, "loc": _PLACE},
    "wnut17": {
        "person": _PERSON,
        "location": _PLACE,
        "corporation": _ORG,
        "product": {"PRODUCT"},
        "creative-work": {"WORK_OF_ART"},
        "group": {"NORP"},
    },
}

Predictions = list[set[tuple[int, int, str]]]


def typed_f1(gold: Predictions, found: Predictions) -> float:
    """Return the F1 of spans whose bounds and labels are both right."""
    right = sum(len(a & b) for a, b in zip(gold, found, strict=True))
    total = sum(map(len, gold)) + sum(map(len, found))
    return 2 * right / total if total else 0.0


def untyped_f1(gold: Predictions, found: Predictions) -> float:
    """Return the F1 of spans whose bounds are right."""
    return typed_f1(*([{(a, b, "") for a, b, _ in each} for each in s] for s in (gold, found)))


def finder_for(finder: EntityFinder, name: str, seed: int) -> EntityFinder:
    """Return the finder with the kinds of a set, trained on raw text of its domain if it has some.

    The seed chooses the sample of entities, and the first weights of kind gates.
    """
    if name in WITH_TEXT:
        text = [" ".join(words) for words in domain_text(name)]
        return finder.with_kinds(examples_of(name), texts=text, seed=seed)
    return finder.with_kinds(examples_of(name), seed=seed)


def predictions(finder: EntityFinder, data: TypedSet) -> Predictions:
    """Return the entities of each sentence with the labels of the set; others are left out."""
    found: Predictions = []
    for scored in finder.score_long_text(data.sentences):
        labelled = ((c, label_of(data.name, c.kind)) for c in scored.found(finder.threshold))
        found.append({(c.start, c.end, label) for c, label in labelled if label is not None})
    return found


def finder_figures(finder: EntityFinder, data: TypedSet) -> dict[str, Any]:
    """Return the typed F1 of a finder on a set, cased and in lower case."""
    figures = {}
    for case, each in data.cases().items():
        gold, found = each.typed_spans(), predictions(finder, each)
        figures[case] = {"typed": typed_f1(gold, found), "untyped": untyped_f1(gold, found)}
    return figures


@cache
def spacy_pipeline(model: str) -> Any:
    """Load a spaCy model by its name or folder."""
    import spacy  # noqa: PLC0415

    return spacy.load(model, disable=["parser", "tagger", "lemmatizer", "attribute_ruler"])


def spacy_figures(model: str, data: TypedSet) -> dict[str, Any] | None:
    """Return the typed F1 of spaCy on a set; None if its labels do not fit."""
    if data.name not in SPACY_LABELS:
        return None
    nlp = spacy_pipeline(model)
    label = {name: own for own, names in SPACY_LABELS[data.name].items() for name in names}
    figures = {}
    for case, each in data.cases().items():
        docs = nlp.pipe(spacy_docs(nlp, each.sentences), batch_size=128)
        found = [
            {(e.start, e.end, label[e.label_]) for e in doc.ents if e.label_ in label}
            for doc in docs
        ]
        gold = each.typed_spans()
        figures[case] = {"typed": typed_f1(gold, found), "untyped": untyped_f1(gold, found)}
    return figures
