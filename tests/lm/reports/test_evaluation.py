"""Metrics of a model, compared with those of a table of all its log-probabilities."""

import dataclasses
import math

import pytest
import torch
from scipy.optimize import minimize_scalar

from thresher.errors import InputError
from thresher.lm.model import Architecture, seeded_model
from thresher.lm.reports.evaluation import TokenSums, best_temperature, evaluate
from thresher.lm.shape import Shape
from thresher.lm.training.batches import IGNORED, Task

V = 9
IDS = torch.randint(V - 1, (75,), generator=torch.Generator().manual_seed(0))  # V - 1 never occurs


def sharp(*, causal=True, output="full", scale=60.0):
    """A model far from uniform, so that temperature matters."""
    shape = Shape(width=8, heads=2, layers=1, context=10, causal=causal, dropout=0.5)
    model = seeded_model(Architecture(V, shape, output, output == "full"), seed=0)
    with torch.no_grad():
        for parameter in model.output.parameters():
            parameter.mul_(scale)
    return model, Task(V, 10, causal, mask_share=0.5)


def table(model, task):
    """log p of every position at once, with its targets."""
    model.eval()
    log_p, targets = [], []
    for input, target in task.evaluation_batches(IDS, size=1000):
        counts = target != IGNORED
        log_p.append(model.output.all_log_probs(model(input))[counts].detach().double())
        targets.append(target[counts])
    model.train()
    return torch.cat(log_p), torch.cat(targets)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("output", ["full", "classes"])
def test_metrics_are_means_over_positions(causal, output):
    model, task = sharp(causal=causal, output=output)
    log_p, target = table(model, task)
    true = log_p.gather(1, target[:, None])[:, 0]
    ranks = torch.tensor(
        [
            sorted(row, reverse=True).index(t) + 1
            for row, t in zip(log_p.tolist(), true.tolist(), strict=True)
        ]
    )
    tempered = (log_p / 1.7).log_softmax(1).gather(1, target[:, None])[:, 0]
    found = evaluate(model, task, IDS, batch=2, temperature=1.7, byte_count=150).metrics()
    assert found == pytest.approx(
        {
            "tokens": len(target),
            "loss": -true.mean().item(),
            "perplexity": math.exp(-true.mean()),
            "temperature": 1.7,
            "perplexity_at_temperature": math.exp(-tempered.mean()),
            "bits_per_byte": -true.sum().item() / math.log(2) / 150,
            "accuracy": (log_p.argmax(1) == target).double().mean().item(),
            "mean_reciprocal_rank": (1 / ranks.double()).mean().item(),
        },
        rel=1e-5,
    )
    assert model.training


def test_losses_are_kept_by_token():
    model, task = sharp()
    log_p, target = table(model, task)
    found = evaluate(model, task, IDS)
    for token in range(V - 1):
        rows = target == token
        expected = -log_p[rows, token].mean().item()
        assert found.token_losses[token].item() == pytest.approx(expected, rel=1e-5)
    assert math.isnan(found.token_losses[V - 1])
    assert found.metrics()["bits_per_byte"] is None


def test_perplexity_is_as_precise_as_the_loss():
    found = evaluate(*sharp(), IDS)
    assert found.metrics()["perplexity"] == pytest.approx(math.exp(found.loss), rel=1e-14)


def test_a_text_without_masked_tokens_is_an_error():
    model, _ = sharp(causal=False)
    with pytest.raises(
        InputError, match="no token was masked in a text of 3 tokens; give more text"
    ):
        evaluate(model, Task(V, 10, causal=False, mask_share=0.001), IDS[:3])


def test_a_uniform_model_has_the_mean_rank():
    sums = TokenSums.zeros(5)
    sums.add(torch.full((4, 5), -math.log(5)), torch.tensor([0, 1, 1, 4]))
    assert sums.reciprocal_rank.sum().item() / 4 == pytest.approx(1 / 3)
    assert sums.loss.sum().item() / 4 == pytest.approx(math.log(5))


@pytest.mark.parametrize("scale", [0.2, 5.0, 60.0, 400.0])
def test_the_best_temperature_minimises_the_loss(scale):
    model, task = sharp(scale=scale)
    log_p, target = table(model, task)

    def loss(log_t):
        scaled = (log_p / math.exp(log_t)).log_softmax(1)
        return -scaled.gather(1, target[:, None]).mean().item()

    bounds = (math.log(0.005), math.log(20))
    expected = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    found = best_temperature(model, task, IDS, batch=3)
    assert loss(math.log(found)) == pytest.approx(expected.fun, abs=1e-6)
    assert 0.005 <= found <= 20.0001


def test_progress_covers_the_whole_text_and_blocks_of_logits_change_nothing(monkeypatch):
    model, task = sharp()
    done = []
    whole = evaluate(model, task, IDS, batch=3, on_progress=done.append)
    assert sum(done[:-1]) < len(IDS) - 1 <= sum(done)  # the last window is moved back to be whole
    monkeypatch.setattr("thresher.lm.reports.evaluation._LOGITS_AT_ONCE_CPU", 2 * V)
    blocks = evaluate(model, task, IDS, batch=3)
    for each in dataclasses.fields(TokenSums):
        found, expected = getattr(blocks.tokens, each.name), getattr(whole.tokens, each.name)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)  # losses are in float32
