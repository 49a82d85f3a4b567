import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from thresher.maths.information import (
    binary_cross_entropy,
    bits_per_byte,
    cross_entropy,
    cross_entropy_rate,
    entropy,
    kullback_leibler,
    language_entropy,
    perplexity,
    renyi_efficiency,
    renyi_entropy,
    surprisal,
)

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def double(*values):
    return torch.tensor(values, dtype=torch.float64)


def normalised(masses):
    total = double(*masses)
    return total / total.sum()


# A few outcomes, some of them impossible.
masses = st.lists(st.just(0.0) | st.floats(1e-6, 1), min_size=1, max_size=8).filter(any)
distributions = masses.map(normalised)


@st.composite
def pairs(draw):
    size = draw(st.integers(1, 8))
    sized = st.lists(st.just(0.0) | st.floats(1e-6, 1), min_size=size, max_size=size).filter(any)
    return normalised(draw(sized)), normalised(draw(sized))


# Entropy


@pytest.mark.parametrize("base", [2.0, math.e, 10.0])
@settings(deadline=None)
@given(p=distributions)
def test_entropy_agrees_with_scipy(p, base):
    assert entropy(p, base=base).item() == pytest.approx(scipy_entropy(p, base=base), abs=1e-12)


def test_entropy_of_a_fair_coin_is_one_bit_and_of_v_equal_outcomes_is_log_v():
    assert entropy(double(0.5, 0.5)).item() == 1
    assert entropy(torch.full((8,), 1 / 8)).item() == pytest.approx(3)


@DTYPES
def test_an_impossible_outcome_adds_nothing_and_has_a_finite_gradient(dtype):
    p = torch.tensor([0.0, 0.25, 0.75], dtype=dtype, requires_grad=True)
    h = entropy(p)
    h.backward()
    torch.testing.assert_close(h.detach(), entropy(p.detach()[1:]))
    assert p.grad[0] == 0
    torch.testing.assert_close(p.grad[1:], -(p.detach()[1:].log() + 1) / math.log(2))


def test_entropy_is_taken_along_dim():
    p = torch.rand(3, 4, 5, dtype=torch.float64).softmax(1)
    assert entropy(p, dim=1).shape == (3, 5)
    torch.testing.assert_close(entropy(p, dim=1), entropy(p.movedim(1, -1)))
    assert entropy(torch.empty(0, 4)).shape == (0,)


# Cross-entropy and Kullback–Leibler


@settings(deadline=None)
@given(pair=pairs())
def test_cross_entropy_is_at_least_the_entropy(pair):
    p, q = pair
    assert entropy(p) <= cross_entropy(p, q) + 1e-12


@settings(deadline=None)
@given(pair=pairs())
def test_divergence_is_cross_entropy_minus_entropy_and_agrees_with_scipy(pair):
    p, q = pair
    divergence = kullback_leibler(p, q)
    torch.testing.assert_close(divergence, cross_entropy(p, q) - entropy(p), atol=1e-12, rtol=1e-9)
    assert divergence.item() == pytest.approx(scipy_entropy(p, q, base=2), abs=1e-12)


@settings(deadline=None)
@given(p=distributions)
def test_divergence_from_itself_is_zero(p):
    assert kullback_leibler(p, p).item() == 0


def test_divergence_of_close_distributions_is_accurate():
    p, q = double(0.5, 0.5), double(0.5 + 1e-6, 0.5 - 1e-6)
    exact = -math.log1p(-4e-12) / 2  # KL of a fair coin from (½ + ε, ½ − ε)
    assert kullback_leibler(p, q, base=math.e).item() == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("measure", [cross_entropy, kullback_leibler])
def test_a_possible_outcome_with_probability_zero_costs_infinitely(measure):
    assert measure(double(0.5, 0.5), double(1, 0)).item() == math.inf
    assert math.isfinite(measure(double(1, 0), double(0.5, 0.5)).item())


@pytest.mark.parametrize("measure", [cross_entropy, kullback_leibler])
def test_outcomes_impossible_for_both_have_finite_gradients(measure):
    p = double(0.4, 0.6, 0).requires_grad_()
    q = double(0.7, 0.3, 0).requires_grad_()
    measure(p, q).backward()
    torch.testing.assert_close(q.grad[:2], -p.detach()[:2] / q.detach()[:2] / math.log(2))
    assert p.grad.isfinite().all()
    assert p.grad[2] == q.grad[2] == 0


@pytest.mark.parametrize("measure", [cross_entropy, kullback_leibler])
def test_gradients_agree_with_finite_differences(measure):
    p = torch.rand(3, 4, dtype=torch.float64).softmax(-1).requires_grad_()
    q = torch.rand(4, dtype=torch.float64).softmax(-1).requires_grad_()
    assert torch.autograd.gradcheck(measure, (p, q))


@DTYPES
def test_cross_entropy_of_a_softmax_is_its_negative_log_likelihood(dtype):
    logits = torch.randn(5, 7, dtype=dtype)
    target = torch.arange(5)
    onehot = torch.nn.functional.one_hot(target, 7).to(dtype)
    torch.testing.assert_close(
        cross_entropy(onehot, logits.softmax(-1), base=math.e).mean(),
        torch.nn.functional.cross_entropy(logits, target),
    )


@settings(deadline=None)
@given(y=st.floats(0, 1), p=st.floats(1e-9, 1 - 1e-9))
def test_binary_cross_entropy_is_cross_entropy_of_two_outcomes(y, p):
    measured = binary_cross_entropy(double(y), double(p))
    torch.testing.assert_close(
        measured, cross_entropy(double(y, 1 - y), double(p, 1 - p))[None], atol=1e-12, rtol=1e-9
    )
    expected = -y * math.log2(p) - (1 - y) * math.log2(1 - p)
    assert measured.item() == pytest.approx(expected, abs=1e-12)


def test_binary_cross_entropy_of_certainty():
    y = double(0, 1, 0, 1)
    p = double(0, 1, 1, 0)
    assert binary_cross_entropy(y, p).tolist() == [0, 0, math.inf, math.inf]


# Surprisal, perplexity and language models


def test_surprisal_counts_bits_and_its_mean_is_the_entropy():
    p = double(0.5, 0.25, 0.125, 0.125)
    assert surprisal(p).tolist() == [1, 2, 3, 3]
    assert (p * surprisal(p)).sum() == entropy(p)
    assert surprisal(double(0, 1)).tolist() == [math.inf, 0]
    assert surprisal(double(math.exp(-3)), base=math.e).item() == pytest.approx(3)


@settings(deadline=None)
@given(pair=pairs())
def test_perplexity_is_two_to_the_cross_entropy_in_any_unit(pair):
    p, q = pair
    in_bits = perplexity(cross_entropy(p, q))
    torch.testing.assert_close(in_bits, 2 ** cross_entropy(p, q))
    torch.testing.assert_close(in_bits, perplexity(cross_entropy(p, q, base=math.e), base=math.e))


def test_perplexity_of_v_equal_outcomes_is_v():
    assert perplexity(entropy(torch.full((10,), 0.1).double())).item() == pytest.approx(10)


def enumerated_language(stop, words):
    """Every sentence of at most 3 words: after each word it stops with probability `stop`."""
    log_probs = []
    for length in (1, 2, 3):
        ending = math.log(stop) if length < 3 else 0.0
        for sentence in itertools.product(words, repeat=length):
            said = sum(math.log(word) for word in sentence)
            log_probs.append(said + (length - 1) * math.log(1 - stop) + ending)
    return double(*log_probs)


def test_entropy_of_an_enumerable_language_is_that_of_its_choices():
    stop, words = 0.3, [0.5, 0.3, 0.2]
    length = double(0.3, 0.7 * 0.3, 0.7 * 0.7)
    mean_length = (length * double(1, 2, 3)).sum()
    by_choices = entropy(length) + mean_length * entropy(double(*words))  # the chain rule
    measured = language_entropy(enumerated_language(stop, words))
    torch.testing.assert_close(measured, by_choices)


def test_an_impossible_sentence_adds_nothing_to_a_language():
    log_prob = double(0.25, 0.75, 0).log().requires_grad_()
    h = language_entropy(log_prob)
    h.backward()
    torch.testing.assert_close(h.detach(), entropy(double(0.25, 0.75)))
    assert log_prob.grad.isfinite().all()


def test_a_language_that_does_not_sum_to_one_is_refused():
    with pytest.raises(ValueError, match=r"`exp\(log_prob\)` must sum to 1 .* got 0.5"):
        language_entropy(double(0.5).log())


def test_rate_of_a_uniform_model_is_the_logarithm_of_its_vocabulary():
    lengths = torch.tensor([3, 1, 8])
    log_prob = -lengths * math.log(50)
    rate = cross_entropy_rate(log_prob, lengths)
    assert rate.item() == pytest.approx(math.log2(50))
    assert perplexity(rate).item() == pytest.approx(50, rel=1e-5)
    nats = cross_entropy_rate(log_prob, lengths, base=math.e)
    assert perplexity(nats, base=math.e).item() == pytest.approx(50, rel=1e-5)


def test_bits_per_byte_do_not_depend_on_the_tokens():
    log_prob = double(-5, -7)
    by_hand = (5 + 7) / math.log(2) / (4 + 6)
    assert bits_per_byte(log_prob, torch.tensor([4, 6])).item() == pytest.approx(by_hand)
    per_token = cross_entropy_rate(log_prob, torch.tensor([2, 3]))
    assert (per_token * 5 / 10).item() == pytest.approx(by_hand)


def test_a_sample_of_a_language_estimates_its_entropy():
    log_prob = enumerated_language(0.3, [0.5, 0.3, 0.2])
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(log_prob.exp(), 20_000, replacement=True, generator=generator)
    per_sentence = cross_entropy_rate(log_prob[drawn], torch.ones(20_000))
    assert per_sentence.item() == pytest.approx(language_entropy(log_prob).item(), rel=0.01)


@pytest.mark.parametrize(
    ("log_prob", "lengths", "message"),
    [
        ([-1.0], [1, 2], "same shape"),
        ([0.5], [1], "at most 0"),
        ([math.nan], [1], "at most 0"),
        ([-1.0], [0], "not all 0"),
        ([-1.0, -1.0], [-1, 3], "at least 0"),
    ],
)
def test_invalid_arguments_of_a_rate_are_refused(log_prob, lengths, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy_rate(double(*log_prob), torch.tensor(lengths))


# Rényi


@settings(deadline=None)
@given(p=distributions, alpha=st.floats(0, 20))
def test_renyi_entropy_matches_its_formula(p, alpha):
    possible = p[p > 0]
    if abs(alpha - 1) > 1e-3:
        direct = (possible**alpha).sum().log2() / (1 - alpha)
        torch.testing.assert_close(renyi_entropy(p, alpha=alpha), direct, atol=1e-9, rtol=1e-9)


def test_renyi_entropy_at_its_special_orders():
    p = double(0.5, 0.25, 0.25, 0)
    assert renyi_entropy(p, alpha=0).item() == pytest.approx(math.log2(3))
    assert renyi_entropy(p, alpha=1).item() == entropy(p).item() == 1.5
    assert renyi_entropy(p, alpha=2).item() == pytest.approx(-math.log2(0.375))
    assert renyi_entropy(p, alpha=math.inf).item() == 1
    assert renyi_entropy(p, alpha=1e4).item() == pytest.approx(1, abs=1e-3)


@DTYPES
@pytest.mark.parametrize("step", [-1e-3, -1e-6, -1e-9, 1e-9, 1e-6, 1e-3])
def test_renyi_entropy_approaches_shannons_near_order_one(step, dtype):
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=dtype)
    beside = renyi_entropy(p, alpha=1 + step).item()
    assert beside == pytest.approx(entropy(p).item(), abs=abs(step) + 1e-6)
    assert (beside <= entropy(p).item() + 1e-6) if step > 0 else (beside >= entropy(p) - 1e-6)


@settings(deadline=None)
@given(p=distributions, alphas=st.tuples(st.floats(0, 30), st.floats(0, 30)))
def test_renyi_entropy_does_not_increase_with_its_order(p, alphas):
    low, high = sorted(alphas)
    assert renyi_entropy(p, alpha=low) >= renyi_entropy(p, alpha=high) - 1e-9
    assert renyi_entropy(p, alpha=high) >= renyi_entropy(p, alpha=math.inf) - 1e-9


@pytest.mark.parametrize("alpha", [0, 0.5, 0.95, 1, 1.05, 2.5, math.inf])
def test_renyi_gradients_are_finite_with_impossible_outcomes_and_right_without(alpha):
    p = double(0.2, 0.3, 0.5)
    with_zero = torch.cat([p, double(0)]).requires_grad_()
    renyi_entropy(with_zero, alpha=alpha).backward()
    assert with_zero.grad.isfinite().all()
    assert torch.autograd.gradcheck(lambda p: renyi_entropy(p, alpha=alpha), p.requires_grad_())


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2.5, math.inf])
def test_efficiency_is_one_for_equal_outcomes_and_counts_unused_ones(alpha):
    assert renyi_efficiency(torch.full((2, 50), 0.02), alpha=alpha).tolist() == pytest.approx(
        [1, 1], abs=1e-6
    )
    half_used = torch.cat([torch.full((4,), 0.25), torch.zeros(12)])
    assert renyi_efficiency(half_used, alpha=alpha).item() == pytest.approx(0.5)


def test_efficiency_is_renyi_entropy_over_log_v_along_dim():
    p = torch.rand(4, 3, dtype=torch.float64).softmax(0)
    torch.testing.assert_close(
        renyi_efficiency(p, alpha=2.5, dim=0), renyi_entropy(p, alpha=2.5, dim=0) / 2
    )


# What is refused


@pytest.mark.parametrize("measure", [entropy, lambda p: renyi_entropy(p, alpha=2)])
@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.6], "`p` must sum to 1 .* along dim -1, got 1.1"),
        ([-0.5, 1.5], "`p` must not be negative, got -0.5"),
        ([math.nan, 1.0], "`p` must not be negative, got nan"),
        ([math.inf, 0.0], "`p` must sum to 1 .* got inf"),
        ([], "`p` must sum to 1 .* got 0.0"),
    ],
)
def test_invalid_distributions_are_refused(measure, p, message):
    with pytest.raises(ValueError, match=message):
        measure(double(*p))


def test_the_invalid_one_of_a_pair_is_named():
    with pytest.raises(ValueError, match="`q` must sum to 1"):
        cross_entropy(double(0.5, 0.5), double(0.5, 0.4))
    with pytest.raises(ValueError, match=r"`q` must sum to 1 .* got 2"):
        kullback_leibler(double(0.5, 0.5), double(1))  # one outcome is not two
    with pytest.raises(ValueError, match=r"`p` must be between 0 and 1, got 1.5"):
        binary_cross_entropy(double(1), double(1.5))
    with pytest.raises(ValueError, match=r"`p` must be between 0 and 1, got -1"):
        surprisal(double(-1))


def test_counts_are_not_probabilities():
    with pytest.raises(TypeError, match=r"floating-point tensor, got torch.int64"):
        entropy(torch.tensor([1, 0]))


@pytest.mark.parametrize("base", [1.0, 0.0, -2.0, math.inf, math.nan])
def test_an_invalid_base_is_refused(base):
    with pytest.raises(ValueError, match="`base` must be above 1 and finite"):
        entropy(double(1), base=base)


@pytest.mark.parametrize("alpha", [-0.1, math.nan])
def test_a_negative_order_is_refused(alpha):
    with pytest.raises(ValueError, match="`alpha` must be at least 0"):
        renyi_entropy(double(1), alpha=alpha)


def test_the_efficiency_of_a_single_outcome_is_refused():
    with pytest.raises(ValueError, match="at least 2 outcomes along dim, got 1"):
        renyi_efficiency(double(1), alpha=1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_softmax_over_a_large_vocabulary_is_accepted(dtype):
    logits = torch.randn(2, 50_000, generator=torch.Generator().manual_seed(0))
    exact = entropy(logits.double().softmax(-1))
    assert entropy(logits.softmax(-1).to(dtype)).tolist() == pytest.approx(exact.tolist(), rel=0.01)
