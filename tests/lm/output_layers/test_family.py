"""Claims that hold for every output layer, over one list of them."""

import io
import math

import pytest
import torch
from scipy import stats

from thresher.errors import InputError
from thresher.lm.output_layers import OutputLayer, OutputModule, output_layer
from thresher.lm.output_layers.choices import TIED_LAYERS, OutputLayerName

WIDTH = 8
VOCABULARY = 13
FREQUENCIES = torch.tensor([5, 0, 40, 1, 9, 90, 2, 2, 17, 30, 3, 0, 60])
UNEQUAL = torch.tensor([3, 3, 3, 7, 3, 0, 3, 3, 7, 3, 3, 3, 3])  # classes of 10, 2 and 1 words

FAMILY = {
    "full": {},
    "full, margin": {"margin": 1.0},
    "full, fused": {"margin": 1.0, "fused": True, "softcap": 5.0},
    "classes": {},
    "classes, unequal": {"classes": UNEQUAL},
    "classes, one": {"classes": 1},
    "hierarchical": {},
    "hierarchical, one level": {"levels": 1},
    "hierarchical, four levels": {"levels": 4},
    "hierarchical, unequal": {"paths": torch.stack([UNEQUAL, UNEQUAL * torch.arange(13) % 2], 1)},
    "tree": {},
    "tree, balanced": {"shape": "balanced"},
    "differentiated": {},
    "differentiated, one band": {"bands": [(13, 8)]},
    "adaptive": {},
    "adaptive, three clusters": {"cutoffs": [2, 5, 6], "div_value": 2.0},
    "noise-contrastive": {"samples": 5},
    "negative-sampling": {"samples": 5},
    "target-sampling": {"samples": 5},
    "adjusted": {"tau": 0.5},
    "gated": {"threshold": 0.5},
}
EVERY = pytest.mark.parametrize("name", FAMILY)
# Trained on −log p itself, so that the loss can be compared with log_prob.
LIKELIHOOD = pytest.mark.parametrize(
    "name",
    [
        name
        for name in FAMILY
        if "sampling" not in name and name not in ("noise-contrastive", "adjusted")
        if "margin" not in FAMILY[name]
    ],
)


def make(name, *, vocabulary=VOCABULARY, seed=0, **options):
    """Return a layer with large parameters, in double precision."""
    torch.manual_seed(seed)
    frequencies = FREQUENCIES[:vocabulary]
    layer = output_layer(
        name.split(",")[0], WIDTH, vocabulary, frequencies=frequencies, **options
    ).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(0.7 * torch.randn_like(parameter))
    return layer


def make_named(name):
    return make(name, **FAMILY[name])


def random_rows(*shape, vocabulary=VOCABULARY, seed=1):
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(*shape, WIDTH, generator=generator, dtype=torch.float64)
    return hidden, torch.randint(vocabulary, shape, generator=generator)


def seeded():
    return torch.Generator().manual_seed(3)


# Its distribution


@EVERY
def test_probabilities_sum_to_one(name):
    layer: OutputLayer = make_named(name)
    hidden, _ = random_rows(4, 3)
    log_probs = layer.all_log_probs(hidden)
    assert log_probs.shape == (4, 3, VOCABULARY)
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(4, 3).double())
    assert log_probs.exp().std() > 0.02


@EVERY
def test_log_prob_is_one_of_all_log_probs(name):
    layer = make_named(name)
    hidden, _ = random_rows(6)
    every_target = torch.arange(VOCABULARY).expand(6, -1)
    repeated = hidden[:, None].expand(-1, VOCABULARY, -1)
    torch.testing.assert_close(layer.log_prob(repeated, every_target), layer.all_log_probs(hidden))


@LIKELIHOOD
def test_the_loss_is_minus_log_prob(name):
    layer = make_named(name)
    hidden, target = random_rows(5, 4)
    rows = layer.loss(hidden, target, reduction="none")
    torch.testing.assert_close(rows, -layer.log_prob(hidden, target))


@EVERY
def test_samples_follow_the_distribution(name):
    layer = make_named(name)
    hidden, _ = random_rows(1)
    draws = layer.sample(hidden.expand(20_000, -1), generator=seeded())
    assert draws.dtype == torch.int64
    observed = torch.bincount(draws, minlength=VOCABULARY)
    expected = 20_000 * layer.all_log_probs(hidden)[0].exp().detach()
    likely = expected >= 5  # the rest in one bin, as the chi-square test asks
    bins = [
        torch.cat([counts[likely].double(), counts[~likely].sum()[None].double()])
        for counts in (observed, expected)
    ]
    keep = bins[1] > 0
    assert stats.chisquare(bins[0][keep], bins[1][keep]).pvalue > 1e-3
    assert len(keep) > 4


@EVERY
def test_the_same_seed_draws_the_same_tokens(name):
    layer = make_named(name)
    hidden, target = random_rows(3, 4)
    draws = [layer.sample(hidden, generator=seeded()) for _ in range(2)]
    assert draws[0].shape == (3, 4)
    assert torch.equal(*draws)
    layer.eval()
    losses = [layer.loss(hidden, target, generator=seeded()) for _ in range(2)]
    assert torch.equal(*losses)


# Its loss


@EVERY
def test_gradients_agree_with_finite_differences(name):
    layer = make_named(name)
    hidden, target = random_rows(5)
    target[2] = -100
    names, parameters = zip(*layer.named_parameters(), strict=True)
    if name == "gated":  # whose point it is that the weight's gradient is not that of the loss
        names, parameters = (), ()

    def loss(hidden, *values):
        options = {"generator": seeded(), "reduction": "none"}
        named = dict(zip(names, values, strict=True))
        return torch.func.functional_call(Loss(layer), {f"layer.{k}": v for k, v in named.items()},
                                          (hidden, target), options)  # fmt: skip

    inputs = [hidden.requires_grad_(), *(p.detach().requires_grad_() for p in parameters)]
    assert torch.autograd.gradcheck(loss, inputs)


class Loss(torch.nn.Module):
    """So that `functional_call` can reach `loss`."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, hidden, target, **options):
        return self.layer.loss(hidden, target, **options)


@EVERY
def test_ignored_targets_count_for_nothing(name):
    layer = make_named(name).eval()
    hidden, target = random_rows(3, 4)
    ignored = torch.zeros(3, 4, dtype=torch.bool)
    ignored[0, 1] = ignored[2] = True
    masked = target.masked_fill(ignored, -100)
    hidden.requires_grad_()
    options = {"generator": seeded()}
    rows = layer.loss(hidden, masked, reduction="none", **options)
    assert rows.shape == (3, 4)
    assert (rows[ignored] == 0).all()
    alone = layer.loss(hidden[~ignored], target[~ignored], reduction="none", generator=seeded())
    torch.testing.assert_close(rows[~ignored], alone)
    for reduction, expected in (("sum", alone.sum()), ("mean", alone.mean())):
        measured = layer.loss(hidden, masked, reduction=reduction, generator=seeded())
        torch.testing.assert_close(measured, expected)
    (gradient,) = torch.autograd.grad(rows.sum(), hidden)
    assert (gradient[ignored] == 0).all()
    assert (gradient[~ignored] != 0).any(-1).all() or "margin" in FAMILY[name]
    other = layer.loss(hidden, target.masked_fill(ignored, 5), ignore_index=5, generator=seeded())
    assert other.isfinite()


@EVERY
def test_no_positions_and_no_counted_positions(name):
    layer = make_named(name)
    hidden, target = random_rows(0)
    assert layer.loss(hidden, target, reduction="sum") == 0
    assert layer.loss(hidden, target, reduction="none").shape == (0,)
    assert layer.log_prob(hidden, target).shape == (0,)
    assert layer.all_log_probs(hidden).shape == (0, VOCABULARY)
    assert layer.sample(hidden).shape == (0,)
    hidden, target = random_rows(2)
    assert layer.loss(hidden, torch.full((2,), -100)).isnan()


@pytest.mark.parametrize("name", sorted({name.split(",")[0] for name in FAMILY}))
@pytest.mark.parametrize("vocabulary", [1, 2, 3])
def test_tiny_vocabularies(name, vocabulary):
    layer = make(name, vocabulary=vocabulary)
    hidden, target = random_rows(4, vocabulary=vocabulary)
    hidden.requires_grad_()
    log_probs = layer.all_log_probs(hidden)
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(4).double())
    torch.testing.assert_close(
        layer.log_prob(hidden, target), log_probs.gather(1, target[:, None])[:, 0]
    )
    layer.loss(hidden, target).backward()
    assert hidden.grad.isfinite().all()
    assert ((layer.sample(hidden) >= 0) & (layer.sample(hidden) < vocabulary)).all()
    if vocabulary == 1:
        assert (layer.log_prob(hidden, target) == 0).all()


@EVERY
def test_training_converges_to_the_distribution(name):
    """With one context the loss converges to the entropy of its word counts."""
    torch.manual_seed(0)
    counts = torch.tensor([30, 1, 8, 2, 12, 50, 2, 3, 20, 40, 4, 1, 27])
    layer = output_layer(name.split(",")[0], WIDTH, VOCABULARY, frequencies=counts, **FAMILY[name])
    hidden = torch.ones(200, WIDTH)
    target = torch.arange(VOCABULARY).repeat_interleave(counts)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    generator = seeded()
    for step in range(250):
        optimiser.param_groups[0]["lr"] = 0.05 * (1 - step / 250)
        optimiser.zero_grad()
        layer.loss(hidden, target, generator=generator).backward()
        optimiser.step()
    probabilities = counts / counts.sum()
    if name == "adjusted":  # τ = 0.5 removes part of the frequency: p ∝ frequency^(1 − τ)
        probabilities = probabilities**0.5 / (probabilities**0.5).sum()
    measured = layer.all_log_probs(hidden[:1])[0].exp()
    divergence = (probabilities * (probabilities / measured).log()).sum().item()
    # Few samples leave some noise. A margin leaves words alone that are e times rarer than a
    # target, so it ends elsewhere, though nearer than the uniform distribution at 0.53.
    noise = 0.05 if "samples" in FAMILY[name] else 1e-4
    assert divergence < (0.2 if "margin" in FAMILY[name] else noise)


# Saving, precision, errors


@EVERY
def test_a_saved_layer_is_the_same_layer(name):
    layer = make_named(name)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = make(name, seed=9, **FAMILY[name])
    hidden, _ = random_rows(3)
    assert not torch.allclose(other.all_log_probs(hidden), layer.all_log_probs(hidden))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other.all_log_probs(hidden), layer.all_log_probs(hidden))


@EVERY
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_single_and_automatic_half_precision_agree_with_double(name, dtype):
    layer = make_named(name)
    hidden, target = random_rows(6)
    expected = layer.loss(hidden, target, generator=seeded())
    layer.float()
    single = hidden.float().requires_grad_()
    automatic = dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=automatic):
        measured = layer.loss(single, target, generator=seeded())
    measured.backward()
    tolerance = 0.1 if automatic else 1e-4
    torch.testing.assert_close(measured.double(), expected, rtol=tolerance, atol=tolerance)
    assert single.grad.dtype == torch.float32
    assert single.grad.isfinite().all()


@EVERY
def test_wrong_shapes_and_targets_are_refused(name):
    layer = make_named(name)
    hidden, target = random_rows(4)
    with pytest.raises(ValueError, match=r"`hidden` must be \(…, 8\), got \(4, 7\)"):
        layer.all_log_probs(hidden[:, :7])
    with pytest.raises(ValueError, match="`target` must have the shape of `hidden`"):
        layer.loss(hidden, target[:3])
    for wrong in (VOCABULARY, -1):
        with pytest.raises(IndexError, match=rf"\[0, 13\).*got {wrong}"):
            layer.loss(hidden, torch.full((4,), wrong))
        with pytest.raises(IndexError, match=rf"\[0, 13\), got {wrong}"):
            layer.log_prob(hidden, torch.full((4,), wrong))
    with pytest.raises(ValueError, match="reduction"):
        layer.loss(hidden, target, reduction="average")


@EVERY
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.float32])
def test_targets_that_are_not_indices_are_refused(name, dtype):
    """torch would use them as a mask if there are as many targets as tokens."""
    hidden, target = random_rows(VOCABULARY)
    with pytest.raises(TypeError, match=f"class indices .*, got {dtype}"):
        make_named(name).loss(hidden, target.clamp(min=0).to(dtype))


def test_an_unknown_layer_lists_the_choices():
    choices = ", ".join(OutputLayerName)
    assert choices.startswith("adaptive, adjusted, classes, differentiated, full, gated, ")
    with pytest.raises(ValueError, match=f"unknown output layer 'tre'; choose from {choices}$"):
        output_layer("tre", 8, 10)
    for width, vocabulary in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="must be positive"):
            output_layer("full", width, vocabulary)
    assert math.isinf(output_layer("full", 8, 10).margin)


# The registry


def test_every_layer_is_in_the_family():
    missing = set(OutputLayerName) - {name.split(",")[0] for name in FAMILY}
    assert not missing, f"add {missing} to FAMILY"


def test_layers_that_take_a_weight_can_be_tied():
    takes_weight = {name for name in OutputLayerName if "weight" in options_of(name)}
    assert takes_weight == set(TIED_LAYERS)


def options_of(name):
    return OutputLayerName(name).layer_class().option_names()


def test_options_are_those_of_the_constructor_and_those_it_passes_on():
    assert options_of("classes") == {"classes", "frequencies"}
    assert {"memory", "threshold", "weight", "bias", "margin"} <= options_of("gated")
    assert "frequencies" not in options_of("gated")


def test_an_unknown_option_lists_those_of_the_layer():
    with pytest.raises(InputError, match=r"'classes' has no option `margin`; it has: classes$"):
        output_layer("classes", 8, 10, margin=4)


class Uniform(OutputModule):
    """The smallest output layer, without options."""

    def _log_prob(self, hidden, target):
        return self._all_log_probs(hidden)[:, 0]

    def _all_log_probs(self, hidden):
        return hidden.new_full((len(hidden), self.vocabulary), -math.log(self.vocabulary))


def test_a_layer_without_a_constructor_gets_no_frequencies(monkeypatch):
    monkeypatch.setattr(OutputLayerName, "layer_class", lambda _: Uniform)
    layer = output_layer("full", WIDTH, VOCABULARY, frequencies=FREQUENCIES)
    torch.testing.assert_close(layer.loss(*random_rows(4)).exp().item(), float(VOCABULARY))
