"""Entities of chosen kinds only."""

import pytest
from tests.typed_finder import TypedFinder

from thresher import InputError

TEXT = "Magda met Elias in Oslo and the Havfruen."


def test_only_keeps_entities_of_these_kinds():
    finder = TypedFinder()
    assert [each.kind for each in finder.find(TEXT)] == ["person", "person", "place", None]
    assert [each.text for each in finder.find(TEXT, only=["place"])] == ["Oslo"]
    assert [each.text for each in finder.find(TEXT, only="person")] == ["Magda", "Elias"]
    assert list(finder.find_all([TEXT], only={"person", "place"})) == [finder.find(TEXT)[:3]]
    [found] = finder.find_words([TEXT.split()], only=["person"])
    assert [(each.start, each.kind) for each in found] == [(0, "person"), (2, "person")]


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (["persn"], "unknown kind 'persn' in `only`; choose from person, place; did you mean"),
        ([], "`only` contains no kind; choose from person, place"),
    ],
)
def test_an_unknown_kind_is_refused(only, message):
    with pytest.raises(InputError, match=message):
        TypedFinder().find(TEXT, only=only)


def test_a_finder_without_kinds_cannot_filter_by_kind():
    with pytest.raises(InputError, match="the model knows none"):
        TypedFinder(kinds={}).find(TEXT, only=["person"])
