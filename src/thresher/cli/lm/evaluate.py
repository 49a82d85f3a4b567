"""thresher lm eval: what a language model makes of a text."""

import json
from typing import TYPE_CHECKING

import thresher
from thresher.cli.errors import Problems
from thresher.cli.lm.figures import figures_as_json, figures_as_table
from thresher.cli.lm.inputs import joined, load_model
from thresher.cli.lm.options import ModelFolder, TestSources
from thresher.cli.options import Device, Field, Format, Json, Quiet
from thresher.cli.output import print_line, rendered
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.lm.reports.evaluation import Evaluation
    from thresher.lm.trained_model import TrainedLanguageModel


def evaluate(
    model: ModelFolder,
    sources: TestSources = None,
    from_: Format = None,
    field: Field = "text",
    device: Device = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a language model: loss, perplexity, accuracy, and loss by popularity.

    thresher lm eval my-lm
    thresher lm eval my-lm other-text.txt --json

    Losses are in nats, under the full softmax. T is the temperature that was
    best on validation. The loss of some ranks is the mean over tokens of these
    ranks, each counted once; rank 1 was the most frequent in training.
    """
    if from_ is not None and not sources:
        raise InputError("--from says how SOURCES are to be read: name some")
    problems = Problems()
    learned = load_model(model, device=device)
    found = learned.test
    if sources:
        texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
        found = _measured(learned, joined(texts))
    if as_json:
        about = {"model": str(model), "text": sources}
        print_line(json.dumps(about | figures_as_json(learned, found)))
    else:
        if not quiet:
            print_line(f"{int(found.tokens.count.sum()):,} tokens predicted")
        print_line(rendered(figures_as_table(learned, found)))
    problems.conclude()


def _measured(learned: "TrainedLanguageModel", text: str) -> "Evaluation":
    import torch  # noqa: PLC0415 (slow to import; help does without)

    from thresher.lm.reports.evaluation import evaluate as evaluated  # noqa: PLC0415
    from thresher.lm.training.fit import predicted_bytes  # noqa: PLC0415

    ids = torch.from_numpy(learned.tokens.encode(text))
    bytes_read = predicted_bytes(learned.tokens, ids, text) if learned.task.causal else None
    return evaluated(
        learned.model,
        learned.task,
        ids,
        batch=learned.settings.batch,
        temperature=learned.temperature,
        byte_count=bytes_read,
    )
