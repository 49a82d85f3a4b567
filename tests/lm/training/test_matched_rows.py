"""Rows that follow their matches equal embeddings that are written as a sum of two parts."""

import pytest
import torch
from tests.lm.training.two_alphabets import (
    LETTERS,
    VOCABULARY,
    in_two_alphabets,
    parts,
    random_text,
)

from thresher.lm.model import Architecture, seeded_model
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.shape import Shape
from thresher.lm.training.loop import train
from thresher.lm.training.matched_rows import MatchedRows
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState, task_for
from thresher.lm.training.token_matching import TokenMatches

SHAPE = Shape(width=16, heads=2, layers=1, context=16)
MATCHES = TokenMatches(
    torch.tensor([5, 3]), torch.tensor([[0, 1], [2, 0]]), torch.tensor([[0.75, 0.25], [0.5, 0.5]])
)


@pytest.mark.parametrize("tied", [True, False])
def test_following_equals_training_the_own_part_of_a_sum(tied):
    model = seeded_model(Architecture(6, SHAPE, tied=tied), seed=0)
    rows = MatchedRows(model, MATCHES)
    rows.initialise(seed=1)
    weight = model.embedding if tied else model.output.weight
    dense = torch.zeros(6, 6)
    dense[MATCHES.tokens[:, None], MATCHES.matches] = MATCHES.weights
    # The oracle: all rows are trained, and those of matched tokens are added to fixed means.
    own = torch.nn.Parameter((weight - dense @ weight).detach().clone())
    target = torch.randn(6, 16, generator=torch.Generator().manual_seed(2))
    rate, decay = 0.05, 0.3
    one = torch.optim.AdamW([weight], lr=rate, weight_decay=decay)
    other = torch.optim.AdamW([own], lr=rate, weight_decay=decay)
    for _ in range(20):
        one.zero_grad()
        (weight - target).pow(4).sum().backward()
        with rows.following(shrink=rate * decay):
            one.step()
        other.zero_grad()
        (own + (dense @ own).detach() - target).pow(4).sum().backward()
        other.step()
    assert torch.allclose(weight, own + dense @ own, atol=1e-5)


def test_matched_rows_start_at_the_means_of_their_matches_plus_one_vector():
    model = seeded_model(Architecture(6, SHAPE), seed=0)
    before = model.embedding.detach().clone()
    MatchedRows(model, MATCHES).initialise(seed=1)
    expected = torch.stack([0.75 * before[0] + 0.25 * before[1], 0.5 * before[2] + 0.5 * before[0]])
    offsets = model.embedding.detach()[MATCHES.tokens] - expected
    assert torch.allclose(offsets[0], offsets[1], atol=1e-6)
    assert offsets[0].norm() > 0
    others = [0, 1, 2, 4]
    assert torch.equal(model.embedding.detach()[others], before[others])


IDS, _ = in_two_alphabets(random_text(6000, seed=0), seed=0)
DATA = TrainingData(
    IDS, IDS[6000:7000], torch.bincount(IDS, minlength=VOCABULARY), parts(6000, 0.05)
)


def trained(steps_before_stop=None, **options):
    settings = LanguageModelSettings(
        **{"steps": 60, "batch": 32, "warm_up": 10, "learning_rate": 5e-3, "evaluate_every": 20}
        | options
    )
    state = TrainingState.new(Architecture(VOCABULARY, SHAPE), settings, DATA.counts)
    if steps_before_stop:

        class Stop(Exception):
            pass

        def stop(state):
            if state.step == steps_before_stop:
                raise Stop

        with pytest.raises(Stop):
            train(state, DATA, settings, after_evaluation=stop)
    return train(state, DATA, settings), settings


def test_a_small_language_is_learned_from_a_large_one():
    losses = {}
    for matched in (False, True):
        model, settings = trained(steps=120, learning_rate=1e-2, match_rare_tokens=matched)
        small = DATA.train[6000:7000]
        losses[matched] = evaluate(model, task_for(model, settings), small).loss
    assert losses[True] < losses[False] - 0.2


def test_a_stopped_run_with_matched_tokens_gives_the_same_model():
    whole, _ = trained(match_rare_tokens=True)
    resumed, _ = trained(steps_before_stop=20, match_rare_tokens=True)
    for name, value in whole.weights().items():
        assert torch.equal(value, resumed.weights()[name])


def test_letters_of_both_alphabets_end_up_next_to_each_other():
    model, _ = trained(match_rare_tokens=True)
    big, small = model.embedding.detach().split(LETTERS)
    _, stands_for = in_two_alphabets(random_text(6000, seed=0), seed=0)
    similar = torch.nn.functional.normalize(small - small.mean(0), dim=1) @ (
        torch.nn.functional.normalize(big - big.mean(0), dim=1).T
    )
    assert (similar.argmax(1) == stands_for).float().mean() >= 0.8
