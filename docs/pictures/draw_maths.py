"""Draw the figures of information, softmax, maximum entropy and filters in docs/maths.md.

python docs/pictures/draw_maths.py
"""

import math

import matplotlib as mpl
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, STYLE, panels, save
from torch import Tensor

from thresher.maths.expectations import ContradictoryExpectationsError, maximum_entropy
from thresher.maths.feature_functions import mean_features, outer_features
from thresher.maths.feature_gain import select_features
from thresher.maths.fourier_filters import band_pass, frequencies, high_pass, low_pass
from thresher.maths.information import cross_entropy, entropy, renyi_entropy
from thresher.maths.loglinear import fit_log_linear
from thresher.maths.softmax import softmax

COLOURS = [BLUE, ORANGE, GREEN, PURPLE, GREY]


def coins(p: Tensor) -> Tensor:
    """Return the distributions (p, 1 − p): (coins, 2)."""
    return torch.stack([p, 1 - p], dim=-1)


def draw_entropy() -> None:
    """Draw entropy and cross-entropy of a coin, and Rényi entropies of several orders."""
    figure, (codes, orders) = panels(1, 2, 3.6)
    p = torch.linspace(0, 1, 301, dtype=torch.float64)
    codes.plot(p, entropy(coins(p)), color=BLUE, lw=2.5)
    codes.text(0.42, 0.86, "H(p)", color=BLUE)
    for q, colour, position in [
        (0.5, GREY, (0.02, 1.05)),
        (0.2, ORANGE, (0.66, 1.3)),
        (0.9, GREEN, (0.04, 1.75)),
    ]:
        code = coins(torch.tensor([q], dtype=torch.float64))
        codes.plot(p, cross_entropy(coins(p), code), color=colour, lw=1.5)
        codes.plot([q], entropy(code), "o", color=colour, ms=5)
        codes.text(*position, f"H(p, q), q = {q:g}", color=colour)
    codes.set(title="Every other code costs more: H(p) ≤ H(p, q)", ylim=(0, 2.2), xlim=(0, 1))
    codes.set(xlabel="p, probability of heads", ylabel="bits per toss")
    shades = mpl.colormaps["viridis"]
    for i, alpha in enumerate([0, 0.5, 1, 2, 5, math.inf]):
        label = "α = ∞" if alpha == math.inf else f"α = {alpha:g}"
        style = {"color": shades(i / 5.8), "lw": 2.5 if alpha == 1 else 1.5, "label": label}
        orders.plot(p, renyi_entropy(coins(p), alpha=alpha), **style)
    orders.set(title="Rényi: rare outcomes count less for larger α", ylim=(0, 1.05))
    orders.set(xlabel="p, probability of heads", ylabel="$H_α$, bits", xlim=(0, 1))
    orders.legend(loc="lower center", ncols=2, columnspacing=1.2)
    save(figure, "information-entropy.svg")


def draw_temperature() -> None:
    """Draw a softmax at several temperatures, from the argmax to the uniform distribution."""
    figure, (bars, curves) = panels(1, 2, 3.4)
    logits = torch.tensor([2.0, 1.5, 0.5, -1.0], dtype=torch.float64)
    for i, t in enumerate([0, 0.5, 1, 4, math.inf]):
        style = {"color": mpl.colormaps["plasma"](i / 5), "label": f"T = {t:g}".replace("inf", "∞")}
        position = torch.arange(4) + 0.16 * (i - 2)
        bars.bar(position, softmax(logits, temperature=t), width=0.15, **style)
    bars.set(title="One row of logits at five temperatures", ylabel="probability", ylim=(0, 1.02))
    bars.set(xticks=range(4), xticklabels=[f"{z:g}" for z in logits.tolist()], xlabel="logit z")
    bars.legend(loc="upper right")
    temperatures = torch.logspace(-1.5, 2, 200)
    rows = torch.stack([softmax(logits, temperature=t) for t in temperatures.tolist()])
    for p, z, colour in zip(rows.T, logits.tolist(), COLOURS, strict=False):
        curves.plot(temperatures, p, color=colour, lw=2, label=f"z = {z:g}")
    curves.axhline(0.25, color=GREY, lw=1, ls=":")
    curves.text(0.034, 0.265, "uniform", color=GREY)
    curves.set(title="Argmax on the left, uniform on the right", xscale="log", ylim=(0, 1.02))
    curves.set(xlabel="temperature T", ylabel="probability", xlim=(temperatures[0], 100))
    curves.legend(loc="upper right")
    save(figure, "softmax-temperature.svg")


def shade_regions(axes: Axes, theta: Tensor, bias: Tensor, half_width: float) -> None:
    """Colour the plane by the most probable class, lighter for a lower probability."""
    line = torch.linspace(-half_width, half_width, 240, dtype=torch.float64)
    y, x = torch.meshgrid(line, line, indexing="ij")
    p = softmax(torch.stack([x, y], -1) @ theta.T + bias)
    probability, label = p.max(-1)
    palette = torch.tensor([to_rgb(colour) for colour in COLOURS])[label]
    strength = (0.12 + 0.5 * (probability - 0.2) / 0.8)[..., None]
    image = 1 - strength * (1 - palette)
    axes.imshow(image, extent=(-half_width, half_width) * 2, origin="lower", interpolation="none")
    axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal")


def draw_regions() -> None:
    """Draw the regions of a fitted classifier, and of one whose regions are Voronoi cells."""
    figure, (fitted, voronoi) = panels(1, 2, 4.4)
    generator = torch.Generator().manual_seed(3)
    centres = torch.tensor([[-1.6, 1.2], [1.5, 1.7], [0.2, -0.4], [1.8, -1.6]], dtype=torch.float64)
    target = torch.arange(4).repeat_interleave(45)
    noise = torch.randn(180, 2, generator=generator, dtype=torch.float64)
    x = centres[target] + 0.75 * noise
    with_bias = torch.cat([x, torch.ones(180, 1, dtype=torch.float64)], dim=1)
    weight = fit_log_linear(outer_features(with_bias, 4), target, penalty=1e-3).weight.view(4, 3)
    shade_regions(fitted, weight[:, :2], weight[:, 2], 4)
    for label, colour in enumerate(COLOURS[:4]):
        fitted.plot(*x[target == label].T, "o", color=colour, ms=4, mec="white", mew=0.5)
    fitted.set(title="Fitted to 180 items of four classes", xlabel="x₁", ylabel="x₂")
    points = [[-2.2, 1.8], [1.8, 2.4], [0.1, 0.2], [2.4, -1.4], [-1.2, -2.2]]
    sites = torch.tensor(points, dtype=torch.float64)
    shade_regions(voronoi, sites, -sites.square().sum(1) / 2, 4)
    voronoi.plot(*sites.T, "k+", ms=9, mew=1.5, label="θ of each class")
    voronoi.set(title="Bias −½‖θ‖²: Voronoi cells of the θ", xlabel="x₁", ylabel="x₂")
    voronoi.legend(loc="upper left", frameon=True)
    save(figure, "softmax-regions.svg")


def draw_log_linear() -> None:
    """Draw observed against expected features, and the gain of features added one at a time."""
    figure, (expected, gains) = panels(1, 2, 3.6)
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(120, 3, 16, generator=generator, dtype=torch.float64)
    truth = 1.6 * torch.linspace(1, 0, 16, dtype=torch.float64).pow(4)
    truth = truth[torch.randperm(16, generator=generator)]
    target = torch.multinomial((features @ truth).softmax(1), 1, generator=generator)[:, 0]
    observed = mean_features(features, torch.nn.functional.one_hot(target, 3))
    for penalty, colour in [(0.0, BLUE), (0.3, ORANGE), (3.0, GREEN)]:
        p = fit_log_linear(features, target, penalty=penalty).log_prob(features).exp()
        style = {"color": colour, "ms": 5, "label": f"λ = {penalty:g}"}
        expected.plot(observed, mean_features(features, p), "o", **style)
    expected.axline((0, 0), slope=1, color=GREY, lw=1, zorder=0)
    expected.set(title="At λ = 0 expected and observed features agree")
    expected.set(xlabel="mean feature in the data", ylabel="mean feature under the model")
    expected.legend(loc="upper left")
    selection = select_features(features, target, penalty=1e-2, count=10)
    order = range(len(selection.gains))
    gains.bar(order, selection.gains, color=BLUE, width=0.7)
    gains.set(title="Features added one at a time", xlabel="feature, in order of selection")
    gains.set(ylabel="gain, nats per item", xticks=order)
    gains.set_xticklabels([f"φ{number}" for number in selection.chosen])
    save(figure, "loglinear-features.svg")


def example_words() -> dict[str, Tensor]:
    """Return features of 1000 words: 180 capitalised, 80 sentence-initial, 40 with a digit."""
    index = torch.arange(1000)
    return {
        "capitalised": (index < 120) | ((index >= 400) & (index < 460)),
        "initial": (index >= 400) & (index < 480),
        "digit": (index >= 110) & (index < 150),
    }


def draw_expectations() -> None:
    """Draw the maximum-entropy probabilities for a few rates, and for several overall rates."""
    figure, (bars, sweep) = panels(1, 2, 3.9)
    features, rates = example_words(), {"capitalised": 0.6, "initial": 0.2, "digit": 0.1}
    rows = torch.stack(list(features.values()), dim=1)
    kinds, counts = torch.unique(rows, dim=0, return_counts=True)
    names = [" + ".join(n for n, f in zip(features, kind, strict=True) if f) for kind in kinds]
    first = [int((rows == kind).all(1).nonzero()[0]) for kind in kinds]
    colours = [mpl.colormaps["viridis"](i / len(names)) for i in range(len(names))]
    p = maximum_entropy(features, rates, overall=0.2).probability[first]
    bars.barh(range(len(names)), p, color=colours, height=0.65)
    for i, value in enumerate(p.tolist()):
        bars.text(value + 0.01, i, f"{value:.3f}", va="center", color=GREY)
    labels = [
        f"{name or 'no feature'} ({n})" for name, n in zip(names, counts.tolist(), strict=True)
    ]
    bars.set(yticks=range(len(names)), yticklabels=labels, xlim=(0, 1), xlabel="probability")
    bars.set(title="Words by their features; overall rate .2")
    overall = torch.linspace(0.005, 0.995, 199).tolist()
    solved = {rate: solution_at(features, rates, rate) for rate in overall}
    half_widthed = {rate: q[first] for rate, q in solved.items() if q is not None}
    curves = torch.stack(list(half_widthed.values()), dim=1)
    for curve, colour in zip(curves, colours, strict=True):
        sweep.plot(list(half_widthed), curve, color=colour, lw=2)
    for low, high in [(0, min(half_widthed)), (max(half_widthed), 1)]:
        sweep.axvspan(low, high, color="#dddddd", lw=0)
    sweep.axvline(0.2, color=GREY, lw=1, ls=":")
    sweep.set(title="Other overall rates; grey: contradictory", xlim=(0, 1), ylim=(0, 1))
    sweep.set(xlabel="overall rate", ylabel="probability")
    save(figure, "expectations.svg")


def solution_at(features: dict[str, Tensor], rates: dict[str, float], rate: float) -> Tensor | None:
    """Return the probabilities for an overall rate, None if the rates are contradictory."""
    try:
        return maximum_entropy(features, rates, overall=rate).probability
    except ContradictoryExpectationsError:
        return None


def draw_filters() -> None:
    """Draw a vector, its spectrum, and three filtered parts that add up to it."""
    figure, axes = panels(2, 2, 5.0)
    generator = torch.Generator().manual_seed(5)
    dimension = torch.arange(64, dtype=torch.float64)
    noise = 0.35 * torch.randn(64, generator=generator, dtype=torch.float64)
    h = (
        torch.sin(2 * torch.pi * dimension / 40)
        + 0.5 * torch.sin(2 * torch.pi * dimension / 7)
        + noise
    )
    low, high = 0.15, 0.5
    parts = {
        f"low-pass, f ≤ {low:g}": (low_pass(h, cutoff=low), BLUE),
        f"band-pass, {low:g} < f ≤ {high:g}": (band_pass(h, low=low, high=high), ORANGE),
        f"high-pass, f > {high:g}": (high_pass(h, cutoff=high), GREEN),
    }
    magnitude = torch.fft.rfft(h).abs()
    f = frequencies(64)
    for (label, (part, colour)), panel in zip(parts.items(), axes[1:], strict=True):
        kept = torch.fft.rfft(part).abs() > 1e-9
        axes[0].bar(f[kept], magnitude[kept], width=0.022, color=colour)
        panel.plot(dimension, h, color="#aaaaaa", lw=1, label="h")
        panel.plot(dimension, part, color=colour, lw=2, label="filtered")
        panel.set(title=label, xlabel="dimension", ylabel="value", xlim=(0, 63), ylim=(-2.4, 2.4))
        panel.legend(loc="lower right", ncols=2)
    axes[0].set(title="Spectrum |F(h)| and the three pass bands", ylabel="magnitude")
    axes[0].set(xlabel="frequency, as a fraction of the Nyquist frequency", xlim=(-0.02, 1.02))
    save(figure, "fourier-filters.svg")


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        draw_entropy()
        draw_temperature()
        draw_regions()
        draw_log_linear()
        draw_expectations()
        draw_filters()
