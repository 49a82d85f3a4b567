"""The plots of a report."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from thresher.errors import requires_extra
from thresher.lm.reports.comparison import Difference, compared_sets, loss_differences, set_name
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
_MAX_COLUMNS = 4  # of panels next to each other
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
            "differences.svg": plot_differences(models),
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
    figure, panels = _panels(len(measured), width=9.0, columns=1)
    for axes, (name, trained) in zip(panels, measured.items(), strict=True):
        order = _by_frequency(trained)
        fractions = _role_fractions(trained, order)
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
    """Plot the validation loss of each frequency group during training."""
    groups = _common_groups(models)
    if not groups:
        return None
    columns = min(len(groups), _MAX_COLUMNS)
    figure, panels = _panels(len(groups), width=3.2 * columns, columns=columns)
    for axes, group in zip(panels, groups, strict=False):
        for name, trained in models.items():
            rows = [row for row in trained.log if group in row]
            if rows:
                steps, losses = ([row[key] for row in rows] for key in ("step", group))
                axes.plot(steps, losses, "o-", markersize=3, label=name)
        axes.set(title=group, xlabel="step", ylabel="validation loss (nats)")
    panels[0].legend()
    return figure


def plot_differences(models: Mapping[str, TrainedLanguageModel]) -> "Figure | None":
    """Plot the second of two models, or sets of seeds, minus the first: loss and gradient roles."""
    compared = compared_sets(models)
    if compared is None:
        return None
    first, second = compared
    have_roles = all(each.roles is not None for each in models.values())
    figure, panels = _panels(1 + have_roles, width=9.0, columns=1)
    differences = loss_differences(first, second)
    panels[0].bar(
        [f"{name}\n{each.occurrences:,} ×" for name, each in differences.items()],
        [each.loss.mean for each in differences.values()],
        yerr=[each.loss.half_width for each in differences.values()],
        color=[_difference_colour(each) for each in differences.values()],
        capsize=3,
    )
    panels[0].axhline(0, color="black", linewidth=0.8)
    panels[0].tick_params("x", labelsize=8)
    panels[0].set(
        title=f"Test loss of {set_name(second)} minus that of {set_name(first)}, with 95 % "
        "intervals\ngrey: no conclusion",
        ylabel="nats (below 0: lower loss)",
    )
    if have_roles:
        _plot_role_differences(panels[1], list(first.values()), list(second.values()))
    return figure


def _difference_colour(difference: Difference) -> str:
    if not difference.is_decided:
        return "#bababa"
    return "#1b7837" if difference.loss.mean < 0 else "#b2182b"


def _plot_role_differences(
    axes: "Axes", first: Sequence[TrainedLanguageModel], second: Sequence[TrainedLanguageModel]
) -> None:
    order = _by_frequency(first[0])
    before, after = (
        torch.stack([_role_fractions(each, order) for each in models]).mean(0)
        for models in (first, second)
    )
    ranks = torch.arange(1, len(order) + 1)
    for change, label, colour in zip(after - before, _ROLE_LABELS, _ROLE_COLOURS, strict=True):
        axes.plot(ranks, change, label=label, color=colour, linewidth=1.2)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(title="Change of each role's fraction of the gradient", ylabel="difference")
    axes.legend()
    _label_tokens(axes, first[0])


def _role_fractions(trained: TrainedLanguageModel, order: Tensor) -> Tensor:
    """Return the fraction of each role in the gradient of each token: (roles, vocabulary)."""
    norms = torch.stack([getattr(trained.roles, role)[order] for role in ROLES]).cpu()
    return _smooth(norms / norms.sum(0).clamp(min=1e-30))


def _common_groups(models: Mapping[str, TrainedLanguageModel]) -> list[str]:
    """Return the frequency groups that the logs of all models have."""
    logs = [trained.log for trained in models.values() if trained.log]
    return [
        name
        for name in (logs[0][-1] if logs else {})
        if name.startswith("ranks")
        and all(math.isfinite(log[-1].get(name, math.nan)) for log in logs)
    ]


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
    count: int, *, width: float, columns: int | None = None
) -> tuple["Figure", Sequence["Axes"]]:
    """Return a figure with `count` panels, by default next to each other."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    columns = columns or count
    rows = -(-count // columns)
    figure = Figure(figsize=(width, 3.2 * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in panels[count:]:
        unused.remove()
    return figure, panels[:count]


def _svg(figure: "Figure") -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()
