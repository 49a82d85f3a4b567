"""The pictures of a report."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.tokens.counts import words_by_frequency
from thresher.lm.trained_model import TrainedLanguageModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROLE_NAMES = ("1: input", "2.1: target", "2.2: not the target")
_ROLE_COLOURS = ("#2166ac", "#1b7837", "#d95f0e")
_MOST_LABELS = 80  # tokens that can be named under an axis
_CURVES = ("ranks 1-10", "ranks 41-50")  # where the vocabulary has such groups
_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "thresher",  # the same code draws the same bytes
}


def draw_report(models: Mapping[str, TrainedLanguageModel]) -> dict[str, bytes]:
    """The pictures by the names of their files: SVG."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 (an extra, slow to import)
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'thresher[plots]'") from error
    # A character that no font has is drawn as a box; that needs no warning.
    with mpl.rc_context(_STYLE), warnings.catch_warnings(action="ignore"):
        figures = {
            "token-distribution.svg": distribution(models),
            "gradient-roles.svg": gradient_roles(models),
            "loss-curves.svg": loss_curves(models),
        }
        return {name: _svg(figure) for name, figure in figures.items() if figure is not None}


def distribution(models: Mapping[str, TrainedLanguageModel]) -> "Figure":
    """The share of each token in the training text by rank, once for each kind of tokens."""
    figure, (axes,) = _panels(1, width=9.0)
    drawn: dict[str, TrainedLanguageModel] = {}
    for name, learned in models.items():
        if not any(torch.equal(learned.counts, other.counts) for other in drawn.values()):
            drawn[name] = learned
    for name, learned in drawn.items():
        shares = learned.counts[_order(learned)].double() / learned.counts.sum()
        seen = shares[shares > 0]
        ranks = range(1, len(seen) + 1)
        style = "o-" if len(seen) <= _MOST_LABELS else "-"
        axes.plot(ranks, seen, style, markersize=3, linewidth=1, label=name)
    axes.set(yscale="log", ylabel="share of the training text", title="Tokens by popularity")
    if len(drawn) == 1:
        _label_tokens(axes, next(iter(drawn.values())))
    else:
        axes.set(xscale="log", xlabel="rank")
        axes.legend()
    return figure


def gradient_roles(models: Mapping[str, TrainedLanguageModel]) -> "Figure | None":
    """What part of its gradient each token received in each role, from the most frequent on."""
    measured = {name: each for name, each in models.items() if each.roles is not None}
    if not measured:
        return None
    figure, panels = _panels(len(measured), width=9.0, in_rows=True)
    for axes, (name, learned) in zip(panels, measured.items(), strict=True):
        order = _order(learned)
        received = torch.stack([getattr(learned.roles, role)[order] for role in ROLES]).cpu()
        shares = _smooth(received / received.sum(0).clamp(min=1e-30))
        ranks = torch.arange(1, len(order) + 1)
        axes.stackplot(ranks, shares, labels=_ROLE_NAMES, colors=_ROLE_COLOURS, alpha=0.85)
        axes.set(title=name, ylim=(0, 1), xlim=(1, len(order)), ylabel="share of gradient norms")
        _label_tokens(axes, learned)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(ROLES))
    return figure


def loss_curves(models: Mapping[str, TrainedLanguageModel]) -> "Figure | None":
    """The validation loss of popular and of rare tokens while the models were trained."""
    names = _groups_to_draw(models)
    if not names:
        return None
    figure, panels = _panels(len(names), width=4.5 * len(names))
    for axes, group in zip(panels, names, strict=True):
        for name, learned in models.items():
            rows = [row for row in learned.log if group in row]
            if rows:
                steps, losses = ([row[key] for row in rows] for key in ("step", group))
                axes.plot(steps, losses, "o-", markersize=3, label=name)
        axes.set(title=f"{group} by popularity", xlabel="step", ylabel="validation loss, nats")
    panels[0].legend()
    return figure


def _groups_to_draw(models: Mapping[str, TrainedLanguageModel]) -> list[str]:
    """Ranks 1-10 and 41-50, or else the first and the last group that all models have."""
    logs = [learned.log for learned in models.values() if learned.log]
    common = [
        name
        for name in (logs[0][-1] if logs else {})
        if name.startswith("ranks")
        and all(math.isfinite(log[-1].get(name, math.nan)) for log in logs)
    ]
    if all(name in common for name in _CURVES):
        return list(_CURVES)
    return list(dict.fromkeys([common[0], common[-1]])) if common else []


def _label_tokens(axes: "Axes", learned: TrainedLanguageModel) -> None:
    """Name every token under the axis where they are few, otherwise count ranks."""
    order = _order(learned)
    if len(order) > _MOST_LABELS:
        axes.set(xscale="log", xlabel="rank")
        return
    names = [_visible(learned.tokens.names[token]) for token in order.tolist()]
    axes.set_xticks(range(1, len(names) + 1), names, fontsize=7, parse_math=False)
    axes.set_xlabel("token, from the most frequent on")


def _visible(name: str) -> str:
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(name, name)


def _smooth(shares: Tensor) -> Tensor:
    """Means over neighbours in rank, about 100 points: single tokens of thousands only flicker."""
    reach = shares.shape[1] // 200
    if not reach:
        return shares
    sums = torch.nn.functional.pad(shares.double().cumsum(1), (1, 0))
    ranks = torch.arange(shares.shape[1])
    low, high = (ranks - reach).clamp(min=0), (ranks + reach + 1).clamp(max=shares.shape[1])
    return (sums[:, high] - sums[:, low]) / (high - low)


def _order(learned: TrainedLanguageModel) -> Tensor:
    return words_by_frequency(learned.counts, len(learned.counts))


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
