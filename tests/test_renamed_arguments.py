import pytest

from thresher.renamed_arguments import renamed_arguments


@renamed_arguments(work="work_dir", told="progress")
def train(text, *, work_dir=None, progress=None):
    """Return the arguments."""
    return text, work_dir, progress


def test_an_old_name_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"`work` of train\(\) was renamed to `work_dir`"):
        assert train("text", work="folder") == ("text", "folder", None)


def test_new_names_need_no_warning():
    assert train("text", work_dir="folder", progress=1) == ("text", "folder", 1)
    assert train.__doc__ == "Return the arguments."


def test_old_and_new_name_together_are_an_error():
    with pytest.raises(TypeError, match="both `work_dir` and its old name `work`"):
        train("text", work="a", work_dir="b")
