import dataclasses
import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.lm.small_model import SHAPE, fit

from thresher.errors import InputError
from thresher.lm.sampling import sample_text, sample_texts, truncated


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


def test_truncation_keeps_the_most_likely_tokens():
    p = torch.tensor([[0.4, 0.1, 0.3, 0.2], [0.1, 0.7, 0.1, 0.1]])
    two = truncated(p.log(), top_k=2).exp()
    torch.testing.assert_close(two[0], torch.tensor([4 / 7, 0, 3 / 7, 0]))
    nucleus = truncated(p.log(), top_p=0.65).exp()
    torch.testing.assert_close(nucleus[0], torch.tensor([4 / 7, 0, 3 / 7, 0]))
    torch.testing.assert_close(nucleus[1], torch.tensor([0.0, 1, 0, 0]))
    both = truncated(p.log(), top_k=3, top_p=0.5).exp()  # of .444, .333 and .222, two reach .5
    torch.testing.assert_close(both[0], torch.tensor([4 / 7, 0, 3 / 7, 0]))
    torch.testing.assert_close(truncated(p.log(), top_k=9, top_p=1.0), p.log())


@given(
    logits=st.lists(st.floats(-5, 5), min_size=2, max_size=12),
    top_k=st.integers(1, 12),
    top_p=st.floats(0.01, 1),
)
def test_truncation_equals_that_of_transformers(logits, top_k, top_p):
    warpers = pytest.importorskip("transformers.generation.logits_process")
    log_p = torch.tensor([logits], dtype=torch.float64).log_softmax(-1)
    assume(len(set(log_p[0].tolist())) == len(logits))
    expected = warpers.TopKLogitsWarper(top_k)(None, log_p)
    expected = warpers.TopPLogitsWarper(top_p)(None, expected)
    kept = truncated(log_p, top_k=top_k, top_p=top_p).isfinite()
    totals = expected.softmax(-1).sort(descending=True).values.cumsum(-1)
    assume((totals - top_p).abs().min() > 1e-6)  # else rounding decides
    assert torch.equal(kept, expected.isfinite())


def test_several_samples_are_distinct_and_one_token_is_the_most_likely(trained):
    seeded = torch.Generator().manual_seed(0)
    texts = sample_texts(trained, samples=3, length=30, temperature=1.0, generator=seeded)
    assert len(set(texts)) == 3
    greedy = sample_text(trained, prompt="the ", length=30, temperature=0)
    assert sample_texts(trained, samples=2, prompt="the ", length=30, top_k=1) == [greedy] * 2
    with pytest.raises(InputError, match="`top_p`"):
        sample_text(trained, top_p=0.0)
