"""The processes of a training run, without starting any; `gates` and `lm` test several of them."""

import pytest

from thresher.training_processes import SINGLE_PROCESS, Processes


@pytest.mark.parametrize("items", [0, 1, 2, 7, 256])
def test_the_shares_of_all_processes_cover_every_item_once(items):
    shares = [Processes(rank, 3).share(items) for rank in range(3)]
    assert [i for share in shares for i in range(items)[share]] == list(range(items))


def test_shares_differ_by_at_most_one_item():
    shares = [Processes(rank, 3).share(7) for rank in range(3)]
    assert shares == [slice(0, 2), slice(2, 4), slice(4, 7)]


def test_a_single_process_is_the_main_one_and_has_everything():
    assert SINGLE_PROCESS.is_single
    assert SINGLE_PROCESS.is_main
    assert SINGLE_PROCESS.share(7) == slice(0, 7)
