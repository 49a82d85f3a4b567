"""Precision, recall and confusions of kinds, compared with seqeval and scikit-learn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report
from sklearn.metrics import confusion_matrix
from tests.typed_finder import TypedFinder

from thresher import InputError
from thresher.entities.evaluation import Counts, GoldTexts, evaluate_finder, evaluate_kinds
from thresher.entities.evaluation.kinds import NO_ENTITY, NO_KIND, NOT_FOUND, kind_names
from thresher.entities.finding.decoding import Candidate
from thresher.text.annotations import TaggedSentence
from thresher.text.formats.tags import encode_tags

KINDS = ("person", "place", "product")


@st.composite
def typed_spans(draw, length):
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    return [(start, end, draw(st.sampled_from(KINDS))) for start, end in pairs]


@given(st.lists(st.tuples(typed_spans(8), typed_spans(8)), min_size=1, max_size=4))
def test_figures_equal_those_of_seqeval(sentences):
    gold = [
        TaggedSentence(("w",) * 8, tuple(s[:2] for s in spans), tuple(s[2] for s in spans))
        for spans, _ in sentences
    ]
    found = [[Candidate(a, b, 1.0, kind, 1.0) for a, b, kind in spans] for _, spans in sentences]
    result = evaluate_kinds(gold, found)
    true, predicted = (
        [encode_tags([s[:2] for s in spans], 8, labels=[s[2] for s in spans]) for spans in side]
        for side in zip(*sentences, strict=True)
    )
    if not any(tag != "O" for tags in [*true, *predicted] for tag in tags):
        assert not result.counts
        return
    report = classification_report(true, predicted, output_dict=True, zero_division=0)
    for kind, counts in result.counts.items():
        expected = report[kind]
        assert counts.gold == expected["support"]
        assert counts.precision == pytest.approx(expected["precision"])
        assert counts.recall == pytest.approx(expected["recall"])
        assert counts.f1 == pytest.approx(expected["f1-score"])
    assert result.all_kinds.f1 == pytest.approx(report["micro avg"]["f1-score"])
    assert set(result.counts) == set(report) - {"micro avg", "macro avg", "weighted avg"}


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)), min_size=1))
def test_confusions_equal_those_of_scikit_learn(pairs):
    gold = [TaggedSentence(("w",), ((0, 1),), (label,)) for label, _ in pairs]
    result = evaluate_kinds(gold, [[Candidate(0, 1, 1.0, kind, 1.0)] for _, kind in pairs])
    rows, columns, cells = result.confusion_matrix()
    assert rows == columns
    expected = confusion_matrix(*zip(*pairs, strict=True), labels=[*rows, "other"])
    assert cells == expected[:-1, :-1].tolist()


def test_spans_without_a_kind_not_found_or_not_in_the_gold_data_are_confusions():
    gold = [TaggedSentence(("a", "b", "c"), ((0, 1), (1, 2)), ("person", "place"))]
    found = [[Candidate(0, 1, 1.0), Candidate(2, 3, 1.0, "place", 0.5)]]
    result = evaluate_kinds(gold, found)
    assert result.confusion == {
        ("person", NO_KIND): 1,
        ("place", NOT_FOUND): 1,
        (NO_ENTITY, "place"): 1,
    }
    assert result.all_kinds == Counts(correct=0, predicted=1, gold=2)


GOLD = GoldTexts(
    [
        [
            TaggedSentence(("Magda", "left", "Oslo"), ((0, 1), (2, 3)), ("PER", "LOC")),
            TaggedSentence(("the", "Havfruen", "sank"), ((1, 2),), ("MISC",)),
        ]
    ]
)


def test_the_label_of_entities_without_a_kind_is_no_kind():
    gold = [TaggedSentence(("Oslo", "and", "Rosa"), ((0, 1), (2, 3)), ("ENT", "person"))]
    found = [[Candidate(0, 1, 1.0), Candidate(2, 3, 1.0, "person", 1.0)]]
    result = evaluate_kinds(gold, found)
    assert result.counts == {"person": Counts(correct=1, predicted=1, gold=1)}
    assert result.confusion[NO_KIND, NO_KIND] == 1


def test_names_of_kinds_are_mapped():
    kind_map = {"PER": "person", "LOC": "place", "MISC": "none"}
    typed = evaluate_finder(TypedFinder(), GOLD, kind_map=kind_map).kinds
    assert {kind: counts.f1 for kind, counts in typed.counts.items()} == {"person": 1, "place": 1}
    assert typed.confusion[NO_KIND, NO_KIND] == 1
    assert evaluate_finder(TypedFinder(), GOLD).kinds.all_kinds.correct == 0
    renamed = {"person": "PER", "place": "PER", "LOC": "PER"}
    typed = evaluate_finder(TypedFinder(), GOLD, kind_map=renamed).kinds
    assert typed.counts["PER"].correct == 2


def test_names_that_differ_in_case_are_the_same_kind():
    assert kind_names(["PERSON", "GPE"], ["person"]) == {"PERSON": "person"}
    assert kind_names(["PER"], ["person"], {"PER": "Person"}) == {"PER": "person"}


def test_a_finder_or_gold_data_without_kinds_has_no_figures_of_kinds():
    untyped = GoldTexts([[TaggedSentence(("Magda", "left"), ((0, 1),), ("ENT",))]])
    assert evaluate_finder(TypedFinder(), untyped).kinds is None
    assert "typed" not in evaluate_finder(TypedFinder({}), GOLD).as_json()
    for finder, gold in ((TypedFinder({}), GOLD), (TypedFinder(), untyped)):
        with pytest.raises(InputError, match="`kind_map` maps names of kinds, but the"):
            evaluate_finder(finder, gold, kind_map={"PER": "person"})


def test_a_name_that_no_kind_has_is_refused():
    with pytest.raises(
        InputError, match=r"'PRE' is neither a label .* \(PER, LOC, MISC, person, place\)"
    ):
        evaluate_finder(TypedFinder(), GOLD, kind_map={"PRE": "person"})


@pytest.mark.parametrize(
    ("kind_map", "suggested"),
    [
        ({"PER": "persn"}, "; did you mean person?"),
        ({"PER": "human", "LOC": "human"}, ""),  # no kind of the finder is called human
    ],
)
def test_a_new_name_that_neither_side_has_is_refused(kind_map, suggested):
    with pytest.raises(InputError) as error:
        evaluate_finder(TypedFinder(), GOLD, kind_map=kind_map)
    assert str(error.value) == (
        f"`kind_map`: {kind_map['PER']!r}, the new name of PER, is neither a kind of the model "
        f"(person, place) nor a label of the gold data (PER, LOC, MISC){suggested}"
    )


def test_both_sides_can_have_a_common_new_name():
    kind_map = {"PER": "human", "person": "human"}
    typed = evaluate_finder(TypedFinder(), GOLD, kind_map=kind_map).kinds
    assert typed.counts["human"].correct == 1
