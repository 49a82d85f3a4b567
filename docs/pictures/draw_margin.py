"""Draw the figure of the margin loss in docs/output-layers.md.

python docs/pictures/draw_margin.py
"""

import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from style import BLUE, GREEN, GREY, HERE, ORANGE, PURPLE, STYLE
from torch import Tensor

from thresher.lm.losses.selfish import selfish_cross_entropy

LIGHT_GREY = "#cccccc"


def gradient(logits: Tensor, target: int, margin: float) -> Tensor:
    """Return ∂loss/∂logits of one row."""
    logits = logits.clone().requires_grad_()
    selfish_cross_entropy(logits, torch.tensor(target), margin=margin).backward()
    assert logits.grad is not None
    return logits.grad


def draw_row(panel: Axes) -> None:
    """Draw the probabilities of one prediction, with survivors highlighted."""
    words = ["the", "a", "London", "Paris", "Rome", "it", "Ouagadougou", "Bamako", "xylem", "qua"]
    logits = torch.tensor([2.6, 2.1, 1.6, 1.3, 0.7, 0.2, -0.6, -0.9, -2.2, -2.7])
    target, margin = words.index("Paris"), 2.0
    p = logits.softmax(0)
    survives = logits >= logits[target] - margin
    colours = [
        ORANGE if i == target else BLUE if survives[i] else LIGHT_GREY for i in range(len(words))
    ]
    panel.bar(range(len(words)), p, color=colours)
    threshold = p[target].item() * math.exp(-margin)
    panel.axhline(threshold, color=GREY, lw=1, ls="--")
    panel.text(9.5, threshold * 1.1, r"$p_{target}\,e^{-2}$", ha="right", color=GREY)
    panel.set_xticks(range(len(words)), words, rotation=45, ha="right")
    panel.set(yscale="log", ylim=(1e-3, 1), ylabel="p under the full softmax")
    panel.set_title("Target “Paris”, margin 2: grey tokens get no gradient")


def draw_gradient(panel: Axes) -> None:
    """Draw the gradient of a token by its distance below the target, for several margins."""
    distance = torch.linspace(-3, 8, 1101)
    for margin, colour in ((1.0, GREEN), (2.0, BLUE), (4.0, PURPLE), (math.inf, LIGHT_GREY)):
        rows = [torch.tensor([0.0, -d, 0.0, -0.5]) for d in distance.tolist()]
        gradients = torch.stack([gradient(row, 0, margin)[1] for row in rows])
        label = "∞: cross-entropy" if margin == math.inf else f"{margin:g}"
        width = 5 if margin == math.inf else 1.5
        panel.plot(distance, gradients, color=colour, lw=width, label=label, zorder=-width)
    panel.legend(title="margin", loc="upper right")
    panel.set(
        xlabel="logit of the target − logit of the token",
        ylabel="gradient of the token's logit",
        yscale="log",
        ylim=(1e-4, 2),
    )
    panel.set_title("Lines end where the gradient is zero")


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
        draw_row(axes[0])
        draw_gradient(axes[1])
        figure.savefig(HERE / "margin.svg", metadata={"Date": None})
