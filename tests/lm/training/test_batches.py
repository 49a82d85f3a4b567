"""Windows of token ids: every target once, reproducible, with masks for masked models."""

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.training.batches import IGNORED, Task, WeightedPart, step_seed

IDS = torch.arange(100, 203)


@pytest.mark.parametrize("tokens", [2, 9, 10, 11, 20, 21, 25, 103])
@pytest.mark.parametrize("size", [1, 3])
def test_an_evaluation_predicts_every_token_but_the_first_once(tokens, size):
    task = Task(300, 10)
    predicted = []
    for input, target in task.evaluation_batches(IDS[:tokens], size=size):
        counts = target != IGNORED
        assert torch.equal(input[counts] + 1, target[counts])
        predicted += target[counts].tolist()
    assert predicted == IDS[1:tokens].tolist()


def test_a_masked_evaluation_covers_the_text_and_is_the_same_every_time():
    task = Task(300, 10, causal=False, mask_share=0.5)
    first, second = (list(task.evaluation_batches(IDS, size=4)) for _ in range(2))
    for left, right in zip(first, second, strict=True):
        assert torch.equal(left.input, right.input)
        assert torch.equal(left.target, right.target)
    hidden = torch.cat([batch.target != IGNORED for batch in first])
    assert len(hidden[:-1].unique(dim=0)) > 5  # windows have different masks
    alone = torch.cat([batch.target for batch in task.evaluation_batches(IDS, size=1)])
    assert torch.equal(alone, torch.cat([batch.target for batch in first]))
    predicted = torch.cat([batch.target[batch.target != IGNORED] for batch in first])
    assert len(predicted.unique()) == len(predicted)
    assert 30 < len(predicted) < 75


def test_a_limit_spreads_windows_over_the_text():
    batches = list(Task(300, 10).evaluation_batches(IDS, size=2, limit=30))
    starts = torch.cat([batch.input[:, 0] for batch in batches])
    assert starts.tolist() == [100, 130, 170]


def test_training_windows_depend_on_seed_and_step_only():
    task = Task(300, 10)
    batch = task.training_batch(IDS, size=64, seed=3, step=7)
    again = task.training_batch(IDS, size=64, seed=3, step=7)
    assert torch.equal(batch.input, again.input)
    assert torch.equal(batch.target, batch.input + 1)
    for seed, step in [(3, 8), (4, 7)]:
        other = task.training_batch(IDS, size=64, seed=seed, step=step)
        assert not torch.equal(other.input, batch.input)


@pytest.mark.parametrize("causal", [True, False])
def test_training_windows_reach_the_whole_text(causal):
    task = Task(300, 10, causal=causal)
    starts = task.training_batch(IDS[:14], size=500, seed=0, step=0).input[:, 1:]
    seen = {int(i) for i in starts.unique()} - {300}
    assert set(IDS[2:13].tolist()) <= seen


def test_parts_give_their_fraction_of_windows_and_no_window_spans_two():
    task, parts = (
        Task(300, 10),
        (WeightedPart(12, 0.7), WeightedPart(50, 0.1), WeightedPart(41, 0.2)),
    )
    batch = task.training_batch(IDS, size=4000, seed=0, step=0, parts=parts)
    assert torch.equal(batch.target, batch.input + 1)
    firsts, lasts = batch.input[:, 0] - 100, batch.target[:, -1] - 100
    allowed = [(0, 12, 0.7), (12, 62, 0.1), (62, 103, 0.2)]
    within = [(firsts >= low) & (lasts < high) for low, high, _ in allowed]
    assert torch.stack(within).any(0).all()
    for chosen, (low, high, fraction) in zip(within, allowed, strict=True):
        assert chosen.double().mean().item() == pytest.approx(fraction, abs=0.03)
        assert firsts[chosen].unique().tolist() == list(range(low, high - 10))


def test_masks_follow_the_rule_of_80_10_10():
    task = Task(1000, 500, causal=False, mask_share=0.2)
    ids = torch.full((501,), 7)
    input, target = task.training_batch(ids, size=200, seed=0, step=0)
    chosen = target != IGNORED
    assert chosen.float().mean().item() == pytest.approx(0.2, abs=0.005)
    assert (target[chosen] == 7).all()
    assert (input[~chosen] == 7).all()
    fractions = [(input[chosen] == value).float().mean().item() for value in (1000, 7)]
    assert fractions == pytest.approx([0.8, 0.1], abs=0.01)


def test_seeds_of_steps_differ():
    assert len({step_seed(seed, step) for seed in range(20) for step in range(50)}) == 1000


def test_a_text_no_longer_than_the_context_is_an_error():
    Task(300, 10).check_length(IDS[:11])
    with pytest.raises(
        InputError, match="training text has 10 tokens and must have more than `context`"
    ):
        Task(300, 10).check_length(IDS[:10])
    with pytest.raises(InputError, match="1 tokens, which leaves none to predict"):
        list(Task(300, 10).evaluation_batches(IDS[:1], size=1))


@pytest.mark.parametrize("share", [0, 1, -0.1])
def test_mask_share_must_lie_between_0_and_1(share):
    with pytest.raises(InputError, match="`mask_share` must be above 0 and below 1"):
        Task(300, 10, causal=False, mask_share=share)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32])
def test_compact_ids_give_the_same_batches(dtype, causal):
    task = Task(300, 10, causal=causal, mask_share=0.5)
    for ids in (IDS, IDS.to(dtype)):
        batches = [task.training_batch(ids, size=4, seed=0, step=0)]
        batches += task.evaluation_batches(ids, size=4)
        assert all(each.dtype == torch.int64 for batch in batches for each in batch)
        if ids is IDS:
            expected = batches
    for left, right in zip(batches, expected, strict=True):
        assert torch.equal(left.input, right.input)
        assert torch.equal(left.target, right.target)
