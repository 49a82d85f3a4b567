import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.encoders.overlapping_windows import overlapping_windows


@st.composite
def window_problem(draw):
    size = draw(st.integers(1, 20))
    return draw(st.integers(0, 100)), size, draw(st.integers(0, size - 1))


@given(window_problem())
def test_windows_cover_the_whole_length_in_order_and_none_is_too_long(problem):
    length, size, overlap = problem
    found = list(overlapping_windows(length, size=size, overlap=overlap))
    assert set().union(*(range(low, high) for low, high in found)) == set(range(length))
    assert found == sorted(set(found))
    assert all(high - low <= size for low, high in found)


@given(window_problem())
def test_neighbours_share_exactly_the_overlap_and_all_but_the_last_are_full(problem):
    length, size, overlap = problem
    found = list(overlapping_windows(length, size=size, overlap=overlap))
    for (low, high), (following, _) in itertools.pairwise(found):
        assert high - low == size
        assert high - following == overlap


@given(window_problem())
def test_no_window_lies_inside_another(problem):
    length, size, overlap = problem
    ends = [high for _, high in overlapping_windows(length, size=size, overlap=overlap)]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("length", [0, 1, 9, 10])
def test_a_length_that_fits_gives_one_window(length):
    assert list(overlapping_windows(length, size=10, overlap=3)) == [(0, length)]


@pytest.mark.parametrize(("size", "overlap"), [(4, 4), (4, 5), (4, -1), (0, 0)])
def test_an_overlap_as_large_as_the_window_is_rejected(size, overlap):
    with pytest.raises(ValueError, match=rf"less than size {size}, got {overlap}"):
        list(overlapping_windows(10, size=size, overlap=overlap))
