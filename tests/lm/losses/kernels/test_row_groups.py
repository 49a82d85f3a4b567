"""How rows are grouped, and how many tokens are popular among the light rows."""

from dataclasses import replace

import pytest
import torch

from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Layer, record_survivors, target_logits
from thresher.lm.losses.kernels.row_groups import row_groups
from thresher.lm.losses.kernels.token_counts import TokenRanges, survivor_counts
from thresher.lm.losses.options import LogitScaling

PLAN = Plan(columns=16, recorded_fraction=2.0, light_fraction=0.25, dense_multiple=1)
POSITIONS, VOCABULARY, MARGIN = 24, 50, 1.5


def recorded(dtype):
    """Return a record, and which entries survive: (positions, vocabulary)."""
    generator = torch.Generator().manual_seed(1)
    input = torch.randn(POSITIONS, 8, generator=generator).to(dtype)
    weight = torch.randn(VOCABULARY, 8, generator=generator).to(dtype)
    logits = input.float() @ weight.float().T
    target = logits.topk(3).indices[:, 2].int()
    target[5] = -1
    layer = Layer(input, weight, None, None, target, LogitScaling())
    z = target_logits(layer)
    record = record_survivors(layer, z, z - MARGIN, PLAN, recording=True)
    alive = (logits >= (z - MARGIN)[:, None]) & (target >= 0)[:, None]
    return record, alive


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_token_counts_equal_the_survivors_of_the_given_rows(dtype):
    record, alive = recorded(dtype)
    marked = record.kept & (torch.arange(POSITIONS) % 3 > 0)
    counts = survivor_counts(record, marked, VOCABULARY, PLAN)
    assert torch.equal(counts.long(), (alive & marked[:, None]).sum(0))
    assert counts.any()


def test_rows_and_popular_tokens_are_grouped_by_survivors():
    record, alive = recorded(torch.float32)
    groups = row_groups(record, torch.ones(()), VOCABULARY, PLAN)
    light = alive.sum(1) <= PLAN.light_fraction * VOCABULARY
    assert groups.full == 0
    assert groups.dense == (~light).sum()
    assert set(groups.order[groups.dense :].tolist()) == set(light.nonzero()[:, 0].tolist())
    assert groups.listed == alive[light].sum()
    assert groups.popular == (alive[light].sum(0) > PLAN.light_fraction * light.sum()).sum()
    assert 0 < groups.popular < VOCABULARY
    assert 0 < groups.dense < POSITIONS


def test_token_ranges_follow_from_the_counts():
    counts = torch.tensor([2, 0, 5, 2], dtype=torch.int32)
    places = TokenRanges.from_counts(counts)
    assert places.owner.tolist() == [2, 0, 3, 1]
    assert places.rank.tolist() == [1, 3, 0, 2]
    assert places.begin.tolist() == [2, 0, 7, 2]
    assert places.end.tolist() == [7, 2, 9, 2]


def test_the_number_of_dense_rows_is_rounded_up_and_their_survivors_are_not_listed():
    record, alive = recorded(torch.float32)
    plan = replace(PLAN, dense_multiple=8)
    groups = row_groups(record, torch.ones(()), VOCABULARY, plan)
    assert groups.dense == 8
    gathered = alive[groups.order[8:]]
    assert groups.listed == gathered.sum()
    assert torch.equal(groups.offsets[8:].diff(), gathered.sum(1))
    assert torch.equal(
        groups.tokens.end - groups.tokens.begin, gathered.sum(0)[groups.tokens.owner]
    )
