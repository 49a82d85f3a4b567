"""How the capacity of the record is distributed among rows."""

import pytest
import torch

from thresher.lm.losses.kernels.quotas import Quotas

CHUNKS, POSITIONS = 4, 300


def recorded(found, capacity):
    """Rows that are kept to the end, if a row finds `found` in each chunk: (chunks, positions).

    One chunk at a time; a row that may not write is passed over, as the kernel does.
    """
    state = Quotas.initial(POSITIONS, capacity, 1, torch.device("cpu"))
    many = len(state.used)
    for chunk in range(CHUNKS):
        lengths = found[chunk : chunk + 1].int()
        writes = lengths <= state.quota
        for which in range(many):
            state.used[which] += lengths[0, which::many][writes[0, which::many]].sum()
        assert (state.used <= capacity).all()
        starts = torch.where(writes, 0, -1).int()
        state.update(starts, lengths, seen=chunk + 1, vocabulary=CHUNKS, chunks=1)
    return state.quota >= 0


@pytest.mark.parametrize("seed", range(2))
def test_no_list_overflows_for_any_number_of_survivors(seed):
    generator = torch.Generator().manual_seed(seed)
    wild = torch.randn(CHUNKS, POSITIONS, generator=generator).mul(3).exp().long()
    kept = recorded(wild, 1000)
    assert 0 < kept.sum() < POSITIONS


def test_all_rows_are_recorded_if_the_capacity_suffices():
    capacity = 100 * CHUNKS * 5 * 8 // 7 + 100
    assert recorded(torch.full((CHUNKS, POSITIONS), 5), capacity).all()


def test_the_rows_with_the_most_survivors_are_given_up():
    """100 rows to a list, of which every fourth finds twenty times as much."""
    found = torch.ones(CHUNKS, POSITIONS).long()
    heavy = torch.arange(POSITIONS) // 3 % 4 == 0
    found[:, heavy] = 20
    assert torch.equal(recorded(found, capacity=1000), ~heavy)


def test_without_capacity_only_rows_without_survivors_are_recorded():
    found = torch.zeros(CHUNKS, POSITIONS).long()
    found[-1, 7] = 1
    assert torch.equal(recorded(found, capacity=0), found.sum(0) == 0)
