"""Old names still work, with a warning."""

import pytest

from thresher.deprecation import renamed_arguments


@renamed_arguments(beliefs="prior_knowledge")
def fit(texts, *, prior_knowledge=None):
    """Return both arguments."""
    return texts, prior_knowledge


def test_an_old_keyword_is_passed_on_under_its_new_name_with_a_warning():
    with pytest.warns(DeprecationWarning, match="`beliefs` was renamed to `prior_knowledge`") as w:
        assert fit(["a"], beliefs=1) == (["a"], 1)
    assert w[0].filename == __file__


def test_the_new_keyword_gives_no_warning():
    assert fit(["a"], prior_knowledge=2) == (["a"], 2)
    assert fit.__doc__ == "Return both arguments."


def test_both_names_at_once_are_an_error():
    with pytest.raises(TypeError, match="got both `prior_knowledge` and `beliefs`"):
        fit([], prior_knowledge=1, beliefs=2)
