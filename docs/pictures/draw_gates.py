"""Draw the figures of the gates in docs/maths.md: `python docs/pictures/draw_gates.py`."""

import matplotlib as mpl
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from style import BLUE, GREEN, GREY, ORANGE, STYLE, panels, save
from torch import Tensor
from torch.distributions import Beta

from thresher.maths.gate_forms import gate
from thresher.maths.hard_kumaraswamy import StretchedGate, ThresholdedGate
from thresher.maths.kumaraswamy import Kumaraswamy

SHAPES = [(0.4, 0.4, BLUE), (1.5, 4.0, ORANGE), (4.0, 1.2, GREEN)]
HARD_SHAPES = [(0.3, 0.3, BLUE), (0.4, 2.0, ORANGE), (2.0, 0.4, GREEN)]


def inner_points(count: int = 240) -> Tensor:
    """Return points in (0, 1), denser towards both ends."""
    angle = torch.linspace(0.004, torch.pi / 2 - 0.004, count, dtype=torch.float64)
    return torch.sin(angle) ** 2


def draw_density_and_sampling() -> None:
    """Draw densities next to those of Beta, and the inverse CDF that turns noise into samples."""
    figure, (density, inverse) = panels(1, 2, 3.6)
    x = inner_points()
    for a, b, colour in SHAPES:
        p = Kumaraswamy(a, b)
        label = f"a = {a:g}, b = {b:g}"
        density.plot(x, p.log_prob(x).exp(), color=colour, lw=2, label=label)
        density.plot(x, Beta(a, b).log_prob(x).exp(), color=colour, lw=1.3, ls=(0, (3, 2)))
        inverse.plot(x, p.icdf(x), color=colour, lw=2)
    density.plot([], [], color=GREY, lw=1.3, ls=(0, (3, 2)), label="Beta(a, b)")
    density.set(title="Density", xlabel="x", ylabel="p(x)", xlim=(0, 1), ylim=(0, 3.6))
    density.legend(loc="upper center", ncols=2, columnspacing=1.2)
    v, (a, b, _) = 0.7, SHAPES[1]
    u = float(Kumaraswamy(a, b).icdf(torch.tensor(v)))
    inverse.plot([v, v, 0], [0, u, u], color=GREY, lw=1, ls=":")
    inverse.text(v + 0.02, 0.05, "draw v", color=GREY)
    inverse.text(0.42, u + 0.02, "compute u", color=GREY)
    inverse.set(title="Inverse CDF: a sample is a function of a and b", xlabel="v, uniform")
    inverse.set(ylabel="u = F⁻¹(v)", xlim=(0, 1), ylim=(0, 1))
    save(figure, "gates-density.svg")


def draw_parameters() -> None:
    """Draw the density for several values of a, of b, and of both."""
    figure, axes = panels(1, 3, 3.2)
    x = inner_points()
    values = [0.3, 0.6, 1.0, 2.0, 4.0, 10.0]
    colours = mpl.colormaps["viridis"](torch.linspace(0, 0.88, len(values)))
    varied = {"a": "a varies, b = 1.5", "b": "b varies, a = 1.5", "both": "a = b vary"}
    for ax, (parameter, title) in zip(axes, varied.items(), strict=True):
        for value, colour in zip(values, colours, strict=True):
            a = 1.5 if parameter == "b" else value
            b = 1.5 if parameter == "a" else value
            density = Kumaraswamy(a, b).log_prob(x).exp()
            ax.plot(x, density, color=colour, lw=1.8, label=f"{value:g}")
        ax.set(title=title, xlabel="u", xlim=(0, 1), ylim=(0, 4))
    axes[0].set_ylabel("p(u)")
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, title="value", loc="outside right center")
    save(figure, "gates-parameters.svg")


def draw_hard_forms() -> None:
    """Draw z as a function of u for the two hard forms, and the distributions of z."""
    figure, axes = panels(2, 2, 5.6)
    u = torch.linspace(0, 1, 200, dtype=torch.float64)
    step, ramp, masses, mixture = axes

    step.plot([0, 0.5, 0.5, 1], [0, 0, 1, 1], color=BLUE, lw=2, label="forward: z = 1[u > t]")
    step.plot(u, u, color=ORANGE, lw=1.5, ls=(0, (3, 2)), label="backward: u")
    step.text(0.52, 0.06, "t", color=GREY)
    step.set(title="Thresholded at t = 0.5", ylabel="z")

    ramp.plot(u, -0.1 + 1.2 * u, color=GREY, lw=1, ls=":", label="stretched: l + (r − l) u")
    ramp.plot(u, (-0.1 + 1.2 * u).clamp(0, 1), color=BLUE, lw=2, label="rectified: z")
    ramp.set(title="Stretched to (l, r) = (−0.1, 1.1), rectified")
    for ax in (step, ramp):
        ax.set(xlabel="u", xlim=(0, 1), ylim=(-0.15, 1.4))
        ax.legend(loc="upper center", ncols=2)

    z = torch.linspace(0.002, 0.998, 200, dtype=torch.float64)
    for offset, (a, b, colour) in zip((-0.015, 0.0, 0.015), HARD_SHAPES, strict=True):
        label = f"a = {a:g}, b = {b:g}"
        hard, soft = ThresholdedGate(a, b), StretchedGate(a, b)
        draw_masses(masses, hard.prob_zero(), hard.prob_one(), offset, colour, label)
        draw_masses(mixture, soft.prob_zero(), soft.prob_one(), offset, colour, label)
        mixture.plot(z, soft.log_prob(z).exp(), color=colour, lw=1.5)
    masses.set(title="Thresholded: two point masses", ylabel="probability")
    mixture.set(title="Stretched: two point masses and a density", ylabel="probability, density")
    for ax, top in ((masses, 1.05), (mixture, 1.75)):
        ax.set(xlabel="z", xlim=(-0.06, 1.06), ylim=(0, top))
    masses.legend(loc="upper center")
    save(figure, "gates-hard.svg")


def draw_masses(
    ax: Axes, zero: Tensor, one: Tensor, offset: float, colour: str, label: str
) -> None:
    """Draw two point masses as stems, slightly shifted so that several are visible."""
    positions, heights = [offset, 1 + offset], [float(zero), float(one)]
    ax.vlines(positions, 0, heights, color=colour, lw=2.5)
    ax.plot(positions, heights, "o", color=colour, ms=6, label=label)


def draw_probability_of_opening() -> None:
    """Draw P(open) as a function of (a, b) for the two hard forms."""
    figure, axes = panels(1, 2, 4.2)
    side = torch.logspace(-1, 1.3, 76, dtype=torch.float64)
    bands = [0, 0.01, 0.05, 0.12, 0.3, 0.5, 0.7, 0.9, 0.99, 1]
    colours = mpl.colormaps["Blues"](torch.linspace(0.0, 0.62, len(bands) - 1))
    titles = {"thresholded": "Thresholded: P(u > 0.5)", "stretched": "Stretched: P(z > 0)"}
    for ax, (form, title) in zip(axes, titles.items(), strict=True):
        rate = gate(form, side, side[:, None]).prob_open()
        filled = ax.contourf(side, side, rate, levels=bands, colors=colours)
        filled.set(edgecolor="white", linewidth=0.6)
        ax.add_patch(Rectangle((1, 1), 9, 9, fill=False, edgecolor=ORANGE, lw=2, zorder=3))
        ax.text(10, 0.9, "1 ≤ a, b ≤ 10", ha="right", va="top")
        ax.set(title=title, xlabel="a", xscale="log", yscale="log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel("b")
    figure.colorbar(filled, ax=axes, label="probability of opening", ticks=bands, format="%g")
    save(figure, "gates-opening.svg")


def main() -> None:
    """Draw all four figures."""
    mpl.use("svg")
    with mpl.rc_context(STYLE):
        draw_density_and_sampling()
        draw_parameters()
        draw_hard_forms()
        draw_probability_of_opening()


if __name__ == "__main__":
    main()
