"""Compare trained language models by token frequency: tables and plots."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from thresher.atomic_files import write_file
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.lm.reports.comparison import (
    Models,
    compared_sets,
    conclusion,
    loss_differences,
    model_sets,
    seed_losses,
    set_name,
)
from thresher.lm.reports.evaluation import Evaluation
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.reports.group_losses import group_losses, mean_over_seeds
from thresher.lm.tokens.counts import tokens_by_frequency
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.maths.information import entropy, renyi_efficiency

RENYI_ORDER = 2.5  # at this order it correlates best with model quality (Zouhar et al. 2023)

Table = list[dict[str, str]]


def write_report(models: Models, folder: Path) -> list[str]:
    """Write `report.md`, its plots, and a CSV file of all tokens for each model.

    models: by the name under which the report shows them   returns: the names of the files
    """
    from thresher.lm.reports.plots import draw_plots  # noqa: PLC0415 (matplotlib, an extra)

    if not models:
        raise InputError("a report needs at least one model")
    plots = draw_plots(models)
    files = {"report.md": report_text(models, list(plots)).encode()} | plots
    for name, trained in models.items():
        files[f"tokens-{name}.csv"] = token_table(trained).encode()
    with os_errors_as_input_errors(f"cannot write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_file(folder / name, content)
    return list(files)


def report_text(models: Models, plots: Sequence[str]) -> str:
    """Return the report as Markdown.

    plots: the names of their files
    """
    sections = [
        "# Language models by token frequency",
        "Each model is evaluated on the test part of its text, with the weights of its best step "
        "on the validation part. Losses are in nats under the full softmax. The loss of a group "
        "is the mean over its tokens, in which each token counts once; ± is the 95 % confidence "
        "interval over the positions of the test text. Ranks are by frequency in the training "
        "part; rank 1 is the most frequent token. T is the temperature.",
        markdown([{"": name} | metrics_row(each.test) for name, each in models.items()]),
        "## Loss by token frequency",
        markdown([{"": name} | _group_row(each) for name, each in models.items()]),
        "How often the tokens of each group occur in the test text:",
        markdown([{"": name} | _occurrence_row(each) for name, each in models.items()]),
        *_seed_section(models),
        *_comparison_section(models),
        "## Vocabulary",
        markdown([{"": name} | _vocabulary_row(each) for name, each in models.items()]),
        f"The Rényi efficiency has the order {RENYI_ORDER}; it is 1 if all tokens are equally "
        "frequent.",
        *(f"![{_title(name)}]({name})" for name in plots),
    ]
    return "\n\n".join(sections) + "\n"


def _seed_section(models: Models) -> list[str]:
    """Return a table of the means of models that differ in their seed only."""
    rows: Table = [
        {"": set_name(each)}
        | {
            name: f"{mean_over_seeds(losses)} ({min(losses):.3f}, {max(losses):.3f})"
            for name, losses in seed_losses(list(each.values())).items()
        }
        for each in model_sets(models)
        if len(each) > 1
    ]
    if not rows:
        return []
    text = (
        "Means of models that differ only in their seed; ± is the 95 % interval over seeds, and "
        "the best and the worst seed are in brackets:"
    )
    return ["## Several seeds", text, markdown(rows)]


def _comparison_section(models: Models) -> list[str]:
    """Return the differences between two models, or two sets of seeds, in a table and in words."""
    compared = compared_sets(models)
    if compared is None:
        return []
    first, second = map(set_name, compared)
    differences = loss_differences(*compared)
    row = {
        name: f"{each.loss.mean:+.3f}±{each.loss.half_width:.3f}"
        for name, each in differences.items()
    }
    over = "positions" if len(models) == 2 else "seeds"
    return [
        f"## {second} compared with {first}",
        conclusion(first, second, differences),
        f"Difference in loss, with 95 % intervals over {over}:",
        markdown([{"": "difference"} | row]),
    ]


def metrics_row(evaluation: Evaluation) -> dict[str, str]:
    """Return the metrics of an evaluation, formatted for a table."""
    metrics = evaluation.metrics()
    bits_per_byte = metrics["bits_per_byte"]
    return {
        "loss": f"{metrics['loss']:.4f}",
        "perplexity": f"{metrics['perplexity']:.3f}",
        "best T": f"{metrics['temperature']:.3f}",
        "perplexity at T": f"{metrics['perplexity_at_temperature']:.3f}",
        "bits per byte": "–" if bits_per_byte is None else f"{bits_per_byte:.4f}",
        "accuracy": f"{metrics['accuracy']:.4f}",
        "mean reciprocal rank": f"{metrics['mean_reciprocal_rank']:.4f}",
    }


def _group_row(trained: TrainedLanguageModel) -> dict[str, str]:
    """Return the loss of each frequency group, formatted for a table."""
    return {each.name: str(each.loss) for each in group_losses(trained, trained.test)}


def _occurrence_row(trained: TrainedLanguageModel) -> dict[str, str]:
    """Return how often the tokens of each group occur in the test text."""
    return {each.name: f"{each.occurrences:,}" for each in group_losses(trained, trained.test)}


def _vocabulary_row(trained: TrainedLanguageModel) -> dict[str, str]:
    """Return the size of the vocabulary and how evenly it is used, formatted for a table."""
    efficiency = tokenizer_efficiency(trained.counts)
    return {
        "tokenizer": trained.tokenizer.kind,
        "vocabulary": f"{trained.tokenizer.vocabulary:,}",
        "training tokens": f"{int(trained.counts.sum()):,}",
        "entropy, bits": f"{entropy(_token_fractions(trained.counts)).item():.3f}",
        "Rényi efficiency": "–" if math.isnan(efficiency) else f"{efficiency:.3f}",
    }


def _token_fractions(counts: Tensor) -> Tensor:
    """Return the fraction of each token in the text: (vocabulary,), float64."""
    return counts.double() / counts.sum()


def tokenizer_efficiency(counts: Tensor) -> float:
    """Return the Rényi efficiency of token counts, 1 if all tokens are equally frequent.

    It is NaN for a vocabulary of one token, which is both equal and certain.
    """
    if len(counts) < 2:
        return math.nan
    return renyi_efficiency(_token_fractions(counts), alpha=RENYI_ORDER).item()


def token_table(trained: TrainedLanguageModel) -> str:
    """Return all tokens with their counts and metrics as CSV, by falling frequency."""
    sums, count = trained.test.tokens, trained.test.tokens.count
    columns: dict[str, Tensor] = {
        "training_count": trained.counts,
        "test_count": count.long(),
        "loss": sums.loss / count,
        "accuracy": sums.hits / count,
        "reciprocal_rank": sums.reciprocal_rank / count,
    }
    if trained.roles is not None:
        columns |= {f"gradient_{role}": getattr(trained.roles, role) for role in ROLES}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rank", "token", *columns])
    order = tokens_by_frequency(trained.counts, len(trained.counts))
    for rank, token in enumerate(order.tolist(), 1):
        values = (column[token].item() for column in columns.values())
        writer.writerow([rank, trained.tokenizer.names[token], *map(_format, values)])
    return text.getvalue()


def markdown(rows: Table) -> str:
    """Return a Markdown table; a missing column of a row gives an empty cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---", *["---:"] * (len(names) - 1)]]
    lines += [[row.get(name, "") for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _format(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def _title(plot: str) -> str:
    return plot.partition(".")[0].replace("-", " ").capitalize()
