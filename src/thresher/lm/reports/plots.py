"""The plots of a report."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from thresher.errors import requires_extra
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.tokens.counts import tokens_by_frequency
from thresher.lm.trained_model import TrainedLanguageModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROLE_LABELS = ("as input", "as target", "as another token of the softmax")
_ROLE_COLOURS = ("#2166ac", "#1b7837", "#d95f0e")
_MAX_TOKEN_LABELS = 80  # more tokens do not fit under an axis
_RANK_LABEL = "frequency rank (1 = most frequent token)"
_CURVES = ("ranks 1-10", "ranks 41-50")  # preferred groups, if the vocabulary has them
_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "thresher",  # makes the files reproducible
}


def draw_plots(models: Mapping[str, TrainedLanguageModel]) -> dict[str, bytes]:
    """Return the plots as SVG, by file name.

    models: by the name that a legend shows
    """
    with requires_extra("plots", "plots need matplotlib"):
        import matplotlib as mpl  # noqa: PLC0415 (an extra, slow to import)
    # Characters that the font lacks are drawn as boxes; matplotlib would warn about each.
    with mpl.rc_context(_STYLE), warnings.catch_warnings(action="ignore"):
        figures = {
            "token-distribution.svg": plot_token_frequencies(models),
            "gradient-roles.svg": plot_gradient_roles(models),
            "loss-curves.svg": plot_loss_curves(models),
        }
        return {name: _svg(figure) for name, figure in figures.items() if figure is not None}


def plot_token_frequencies(models: Mapping[str, TrainedLanguageModel]) -> "Figure":
    """Plot the fraction of the training text by frequency rank, once for equal token counts."""
    figure, (axes,) = _panels(1, width=9.0)
    distinct: dict[str, TrainedLanguageModel] = {}
    for name, trained in models.items():
        if not any(torch.equal(trained.counts, other.counts) for other in distinct.values()):
            distinct[name] = trained
    for name, trained in distinct.items():
        fractions = trained.counts[_by_frequency(trained)].double() / trained.counts.sum()
        seen = fractions[fractions > 0]
        ranks = range(1, len(seen) + 1)
        style = "o-" if len(seen) <= _MAX_TOKEN_LABELS else "-"
        axes.plot(ranks, seen, style, markersize=3, linewidth=1, label=name)
    axes.set(yscale="log", ylabel="fraction of the training text", title="Token frequencies")
    if len(distinct) == 1:
        _label_tokens(axes, next(iter(distinct.values())))
    else:
        axes.set(xscale="log", xlabel=_RANK_LABEL)
        axes.legend()
    return figure


def plot_gradient_roles(models: Mapping[str, TrainedLanguageModel]) -> "Figure | None":
    """Plot the fraction of each token's gradient norms by role; None if none were measured."""
    measured = {name: each for name, each in models.items() if each.roles is not None}
    if not measured:
        return None
    figure, panels = _panels(len(measured), width=9.0, in_rows=True)
    for axes, (name, trained) in zip(panels, measured.items(), strict=True):
        order = _by_frequency(trained)
        norms = torch.stack([getattr(trained.roles, role)[order] for role in ROLES]).cpu()
        fractions = _smooth(norms / norms.sum(0).clamp(min=1e-30))
        ranks = torch.arange(1, len(order) + 1)
        axes.stackplot(ranks, fractions, labels=_ROLE_LABELS, colors=_ROLE_COLOURS, alpha=0.85)
        axes.set(title=name, ylim=(0, 1), xlim=(1, len(order)), ylabel="fraction of gradient norm")
        _label_tokens(axes, trained)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        title="Gradient of each token's embedding, by the role of the token",
        loc="outside upper center",
        ncols=len(ROLES),
    )
    return figure


def plot_loss_curves(models: Mapping[str, TrainedLanguageModel]) -> "Figure | None":
    """Plot the validation loss of frequent and of rare tokens during training."""
    groups = _groups_to_plot(models)
    if not groups:
        return None
    figure, panels = _panels(len(groups), width=4.5 * len(groups))
    for axes, group in zip(panels, groups, strict=True):
        for name, trained in models.items():
            rows = [row for row in trained.log if group in row]
            if rows:
                steps, losses = ([row[key] for row in rows] for key in ("step", group))
                axes.plot(steps, losses, "o-", markersize=3, label=name)
        axes.set(
            title=f"Tokens of frequency {group}", xlabel="step", ylabel="validation loss (nats)"
        )
    panels[0].legend()
    return figure


def _groups_to_plot(models: Mapping[str, TrainedLanguageModel]) -> list[str]:
    """Return ranks 1-10 and 41-50, or else the first and last group that all models have."""
    logs = [trained.log for trained in models.values() if trained.log]
    common = [
        name
        for name in (logs[0][-1] if logs else {})
        if name.startswith("ranks")
        and all(math.isfinite(log[-1].get(name, math.nan)) for log in logs)
    ]
    if all(name in common for name in _CURVES):
        return list(_CURVES)
    return list(dict.fromkeys([common[0], common[-1]])) if common else []


def _label_tokens(axes: "Axes", trained: TrainedLanguageModel) -> None:
    """Label the axis with all tokens if there are few, otherwise with ranks."""
    order = _by_frequency(trained)
    if len(order) > _MAX_TOKEN_LABELS:
        axes.set(xscale="log", xlabel=_RANK_LABEL)
        return
    names = [_visible(trained.tokenizer.names[token]) for token in order.tolist()]
    axes.set_xticks(range(1, len(names) + 1), names, fontsize=7, parse_math=False)
    axes.set_xlabel("token, by falling frequency")


def _visible(name: str) -> str:
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(name, name)


def _smooth(fractions: Tensor) -> Tensor:
    """Average over neighbouring ranks of a large vocabulary: single tokens are noisy.

    fractions: (roles, vocabulary)
    """
    radius = fractions.shape[1] // 200
    if not radius:
        return fractions
    sums = torch.nn.functional.pad(fractions.double().cumsum(1), (1, 0))
    ranks = torch.arange(fractions.shape[1])
    low = (ranks - radius).clamp(min=0)
    high = (ranks + radius + 1).clamp(max=fractions.shape[1])
    return (sums[:, high] - sums[:, low]) / (high - low)


def _by_frequency(trained: TrainedLanguageModel) -> Tensor:
    return tokens_by_frequency(trained.counts, len(trained.counts))


def _panels(
    count: int, *, width: float, in_rows: bool = False
) -> tuple["Figure", Sequence["Axes"]]:
    from matplotlib.figure import Figure  # noqa: PLC0415

    shape = (count, 1) if in_rows else (1, count)
    figure = Figure(figsize=(width, 3.2 * shape[0]), layout="constrained")
    return figure, list(figure.subplots(*shape, squeeze=False).flat)


def _svg(figure: "Figure") -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()
