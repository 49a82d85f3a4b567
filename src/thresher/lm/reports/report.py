"""What training did to tokens, popular and rare: tables and pictures of several models."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from thresher.atomic_files import write_file
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.lm.reports.evaluation import Evaluation
from thresher.lm.reports.frequency_groups import group_means, popularity_groups
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.maths.information import entropy, renyi_efficiency

RENYI_ORDER = 2.5  # where efficiency goes best with how well models do (Zouhar et al. 2023)

Models = Mapping[str, TrainedLanguageModel]
Table = list[dict[str, str]]


def write_report(models: Models, folder: Path) -> list[str]:
    """Write `report.md`, its pictures, and for each model a file of its tokens.

    models: by the name each is to be called   returns: the names of the files
    """
    from thresher.lm.reports import plots as drawings  # noqa: PLC0415 (matplotlib, an extra)

    if not models:
        raise InputError("a report needs at least one model")
    pictures = drawings.draw_report(models)
    files = {"report.md": report_text(models, list(pictures)).encode()} | pictures
    for name, learned in models.items():
        files[f"tokens-{name}.csv"] = token_table(learned).encode()
    with os_errors_as_input_errors(f"cannot write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_file(folder / name, content)
    return list(files)


def report_text(models: Models, pictures: Sequence[str]) -> str:
    """The report in Markdown."""
    sections = [
        "# Language models by token",
        "On the test part of each model's text, at its best step on validation. Losses are in nats "
        "under the full softmax; a group's loss is the mean over its tokens, each token counted "
        "once. Ranks are by frequency in the training part, 1 the most frequent.",
        markdown([{"": name} | figure_row(each.test) for name, each in models.items()]),
        "## Loss by popularity",
        markdown([{"": name} | group_row(each, each.test) for name, each in models.items()]),
        "## Tokens",
        markdown([{"": name} | distribution_row(each) for name, each in models.items()]),
        f"The Rényi efficiency is of order {RENYI_ORDER}.",
        *(f"![{_title(name)}]({name})" for name in pictures),
    ]
    return "\n\n".join(sections) + "\n"


def figure_row(found: Evaluation) -> dict[str, str]:
    """What a model is worth, in figures to read."""
    figures = found.figures()
    rate = figures["bits_per_byte"]
    return {
        "loss": f"{figures['loss']:.4f}",
        "perplexity": f"{figures['perplexity']:.3f}",
        "best T": f"{figures['temperature']:.3f}",
        "perplexity at T": f"{figures['perplexity_at_temperature']:.3f}",
        "bits per byte": "–" if rate is None else f"{rate:.4f}",
        "accuracy": f"{figures['accuracy']:.4f}",
        "mean reciprocal rank": f"{figures['mean_reciprocal_rank']:.4f}",
    }


def group_losses(learned: TrainedLanguageModel, found: Evaluation) -> dict[str, float]:
    """The loss of each popularity group by its name, NaN where none of its tokens occurred."""
    groups = popularity_groups(learned.counts)
    means = group_means(found.token_losses, groups)
    return {group.name: mean for group, mean in zip(groups, means, strict=True)}


def group_row(learned: TrainedLanguageModel, found: Evaluation) -> dict[str, str]:
    """The loss of each popularity group, in figures to read."""
    losses = group_losses(learned, found)
    return {name: "–" if math.isnan(loss) else f"{loss:.3f}" for name, loss in losses.items()}


def distribution_row(learned: TrainedLanguageModel) -> dict[str, str]:
    """The tokens of the training text and how evenly they are used."""
    share = token_shares(learned.counts)
    return {
        "tokens": learned.tokens.kind,
        "vocabulary": f"{learned.tokens.vocabulary:,}",
        "tokens to train on": f"{int(learned.counts.sum()):,}",
        "entropy, bits": f"{entropy(share).item():.3f}",
        "Rényi efficiency": f"{efficiency(learned.counts):.3f}",
    }


def token_shares(counts: Tensor) -> Tensor:
    """The share of each token in the text: (vocabulary,), float64."""
    return counts.double() / counts.sum()


def efficiency(counts: Tensor) -> float:
    """The Rényi efficiency of the tokens, 1 where all are used alike."""
    return renyi_efficiency(token_shares(counts), alpha=RENYI_ORDER).item()


def token_table(learned: TrainedLanguageModel) -> str:
    """Every token from the most frequent on, with its figures, as CSV."""
    sums, count = learned.test.tokens, learned.test.tokens.count
    columns: dict[str, Tensor] = {
        "training_count": learned.counts,
        "test_count": count.long(),
        "loss": sums.loss / count,
        "accuracy": sums.hits / count,
        "reciprocal_rank": sums.reciprocal_rank / count,
    }
    if learned.roles is not None:
        columns |= {f"gradient_{role}": getattr(learned.roles, role) for role in ROLES}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rank", "token", *columns])
    order = torch.cat([group.tokens for group in popularity_groups(learned.counts)])
    for rank, token in enumerate(order.tolist(), 1):
        figures = (values[token].item() for values in columns.values())
        writer.writerow([rank, learned.tokens.names[token], *map(_short, figures)])
    return text.getvalue()


def markdown(rows: Table) -> str:
    """A Markdown table; a row that lacks a column is empty there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---", *["---:"] * (len(names) - 1)]]
    lines += [[row.get(name, "") for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _short(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def _title(picture: str) -> str:
    return picture.partition(".")[0].replace("-", " ").capitalize()
