import dataclasses
import math

import pytest
import torch
from tests.lm.small_model import SHAPE, fit

from thresher.errors import InputError
from thresher.lm.sampling import sample_text


@pytest.fixture(scope="module")
def trained():
    return fit()


def test_samples_depend_on_the_generator_only(trained):
    one, two, three = (
        sample_text(trained, length=60, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert one == two != three
    assert len(one) == 60
    assert sample_text(trained, length=0) == ""


def test_at_temperature_zero_the_most_likely_token_follows(trained):
    sampled = sample_text(trained, prompt="the c", length=3, temperature=0)
    for end in range(3):
        ids = trained.tokenizer.encode("the c" + sampled[:end])
        log_p = trained.model.output.all_log_probs(trained.model(torch.from_numpy(ids)[None]))
        assert trained.tokenizer.decode([int(log_p[0, -1].argmax())]) == sampled[end]


@pytest.mark.parametrize("temperature", [1e-3, 1e-40, 1e-300])
def test_a_tiny_temperature_also_gives_the_most_likely_token(trained, temperature):
    most_likely = sample_text(trained, prompt="the c", length=30, temperature=0)
    assert sample_text(trained, prompt="the c", length=30, temperature=temperature) == most_likely


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "%"}, "'%' .* does not occur in the training text"),
        ({"length": -1}, "`length` must be at least 0, got -1"),
        ({"temperature": -0.5}, "at least 0, got -0.5"),
        ({"temperature": math.nan}, "at least 0, got nan"),
    ],
)
def test_invalid_arguments_are_errors(trained, options, message):
    with pytest.raises(InputError, match=message):
        sample_text(trained, **options)


def test_a_masked_model_cannot_continue_a_text():
    with pytest.raises(InputError, match="masked model"):
        sample_text(fit(shape=dataclasses.replace(SHAPE, causal=False)))
