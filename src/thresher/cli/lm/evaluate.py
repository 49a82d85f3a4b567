"""thresher lm eval: evaluate a language model."""

import json
from typing import TYPE_CHECKING

import thresher
from thresher.cli.errors import Problems
from thresher.cli.lm.figures import figures_as_json, figures_as_table
from thresher.cli.lm.inputs import joined, load_model
from thresher.cli.lm.options import ModelFolder, TestSources
from thresher.cli.options import Device, Field, Format, Json, Quiet
from thresher.cli.output import print_line, render
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.lm.reports.evaluation import Evaluation
    from thresher.lm.trained_model import TrainedLanguageModel


def evaluate(
    model: ModelFolder,
    sources: TestSources = None,
    format_: Format = None,
    field: Field = "text",
    device: Device = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a language model: loss, perplexity, accuracy, loss by frequency.

    thresher lm eval my-lm
    thresher lm eval my-lm other-text.txt --json

    Losses are in nats, under the full softmax. T is the temperature that was best
    on the validation split. The loss of a range of ranks is the mean over the
    tokens of these ranks, each counted once; rank 1 is the most frequent token of
    the training split.
    """
    if format_ is not None and not sources:
        raise InputError("`format` is the format of `sources`; give at least one source")
    problems = Problems()
    trained = load_model(model, device=device)
    evaluation = trained.test
    if sources:
        texts = thresher.read_texts(sources, format=format_, field=field, on_problem=problems)
        evaluation = _evaluate(trained, joined(texts))
    if as_json:
        about = {"model": str(model), "text": sources}
        print_line(json.dumps(about | figures_as_json(trained, evaluation)))
    else:
        if not quiet:
            print_line(f"{int(evaluation.tokens.count.sum()):,} tokens predicted")
        print_line(render(figures_as_table(trained, evaluation)))
    problems.exit_if_any()


def _evaluate(trained: "TrainedLanguageModel", text: str) -> "Evaluation":
    import torch  # noqa: PLC0415 (slow to import)

    from thresher.lm.reports.evaluation import evaluate as evaluated  # noqa: PLC0415
    from thresher.lm.training.fit import predicted_bytes  # noqa: PLC0415

    ids = torch.from_numpy(trained.tokenizer.encode(text))
    bytes_read = predicted_bytes(trained.tokenizer, ids, text) if trained.task.causal else None
    return evaluated(
        trained.model,
        trained.task,
        ids,
        batch=trained.settings.batch,
        temperature=trained.temperature,
        byte_count=bytes_read,
    )
