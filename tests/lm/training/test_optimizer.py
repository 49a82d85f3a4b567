"""Weight decay by parameter group, the learning-rate schedule, and invalid settings."""

import itertools
import math

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.model import Architecture, seeded_model
from thresher.lm.shape import Shape
from thresher.lm.training.optimizer import adamw, decay_groups, learning_rate
from thresher.lm.training.settings import LanguageModelSettings


def model(*, tied=True, causal=True):
    shape = Shape(width=8, heads=2, layers=2, context=4, causal=causal)
    return seeded_model(Architecture(11, shape, tied=tied), seed=0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("decay_embeddings", [True, False])
def test_every_parameter_is_in_one_group_and_only_matrices_decay(tied, decay_embeddings):
    lm = model(tied=tied, causal=False)
    decayed, not_decayed = decay_groups(lm, decay_embeddings=decay_embeddings)
    assert sorted(map(id, decayed + not_decayed)) == sorted(map(id, lm.parameters()))
    assert all(each.dim() == 2 for each in decayed)
    rows = [each for each in lm.parameters() if each.shape == (11, 8)]
    assert len(rows) == 1 + (not tied)
    for each in rows:
        assert any(each is other for other in decayed) is decay_embeddings


def test_without_gradients_from_the_loss_only_decay_moves_weights():
    lm = model()
    settings = LanguageModelSettings(weight_decay=0.5, learning_rate=0.1, decay_embeddings=False)
    before = {name: value.clone() for name, value in lm.named_parameters()}
    optimizer = adamw(lm, settings)
    for parameter in lm.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, value in lm.named_parameters():
        share = 1 - 0.1 * 0.5 if value.dim() == 2 and name != "embedding" else 1
        torch.testing.assert_close(value, before[name] * share)


def test_the_learning_rate_goes_up_in_a_line_and_down_in_a_half_cosine():
    settings = LanguageModelSettings(steps=110, warm_up=10, learning_rate=2.0, final_share=0.1)
    rates = [learning_rate(step, settings) for step in range(111)]
    assert rates[:10] == pytest.approx([0.2 * k for k in range(1, 11)])
    assert rates[10] == 2.0
    assert rates[60] == pytest.approx((2.0 + 0.2) / 2)
    assert rates[110] == learning_rate(160, settings) == pytest.approx(0.2)
    assert all(a > b for a, b in itertools.pairwise(rates[10:]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "`steps` must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
        ({"label_smoothing": 1.0}, "`label_smoothing` must be"),
        ({"margin": "wide"}, "`margin` must be a number of at least 0 .* got 'wide'"),
        ({"precision": "half"}, "choose from float32, bfloat16"),
        ({"final_share": 2.0}, "`final_share` must be at least 0 and at most 1"),
        ({"weight_decay": -1.0}, "`weight_decay` must be at least 0"),
        ({"weight_decay": math.inf}, "`weight_decay` must be at least 0 and below inf, got inf"),
        ({"rare_token_budget": math.inf}, "`rare_token_budget` must be at least 0 and below inf"),
        ({"learning_rate": math.inf}, "`learning_rate` must be above 0 and below inf"),
    ],
)
def test_invalid_settings_are_an_error(options, message):
    with pytest.raises(InputError, match=message):
        LanguageModelSettings(**options)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_rows_as_parameters_of_their_own_move_just_as_their_matrix_does(decay):
    """AdamW treats each number by itself, so "separated" embeddings change nothing, decayed or not.

    Clipping looks at the norm of all gradients together, which is the same either way.
    """
    whole = [torch.nn.Parameter(torch.randn(5, 3, generator=torch.Generator().manual_seed(0)))]
    rows = [torch.nn.Parameter(row.clone()) for row in whole[0].detach()]
    inputs = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))
    targets = torch.tensor([0, 1, 1, 2, 2, 2, 0])  # tokens 3 and 4 are only ever pushed
    for parameters in (whole, rows):
        optimizer = torch.optim.AdamW(parameters, lr=0.1, weight_decay=decay)
        for _ in range(20):
            weight = parameters[0] if len(parameters) == 1 else torch.stack(parameters)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(inputs @ weight.T, targets).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 0.1)
            optimizer.step()
    torch.testing.assert_close(torch.stack(rows), whole[0], rtol=1e-5, atol=1e-6)
