"""thresher lm train: a language model from raw text."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.cli.entities.fit_options import Folder, Force, Resume
from thresher.cli.errors import Problems
from thresher.cli.lm import options
from thresher.cli.lm.figures import figures_as_json
from thresher.cli.lm.inputs import chosen_device, joined
from thresher.cli.lm.progress import training_shown
from thresher.cli.option_values import given
from thresher.cli.options import Device, Field, Format, Json, Quiet, Sources
from thresher.cli.output import print_summary
from thresher.cli.progress import shown
from thresher.cli.work_folder import check_place, kept_work
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.lm.trained_model import TrainedLanguageModel


def train(
    sources: Sources,
    output: Folder,
    from_: Format = None,
    field: Field = "text",
    force: Force = False,
    resume: Resume = False,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
    tokens: options.Tokens = None,
    vocabulary: options.Vocabulary = None,
    objective: options.Objective = "causal",
    width: options.Width = None,
    layers: options.Layers = None,
    heads: options.Heads = None,
    context: options.Context = None,
    dropout: options.Dropout = None,
    output_layer: options.OutputLayer = "full",
    untied: options.Untied = False,
    margin: options.Margin = None,
    steps: options.Steps = None,
    batch: options.Batch = None,
    learning_rate: options.LearningRate = None,
    weight_decay: options.WeightDecay = None,
    no_embedding_decay: options.NoEmbeddingDecay = False,
    label_smoothing: options.LabelSmoothing = None,
    evaluate_every: options.EvaluateEvery = None,
    tensorboard: options.TensorBoard = None,
    precision: options.Precision = None,
    seed: options.Seed = None,
) -> None:
    """Train a language model on raw text.

    thresher lm train corpus.txt -o my-lm --margin 4
    thresher lm train corpus/*.txt -o my-lm --tokens bpe --vocabulary 8192
    thresher lm train corpus.txt -o my-encoder --objective masked

    It learns from the first 90 % of the text, keeps what does best on the next
    5 %, and is measured on the last 5 %. After Ctrl-C the same command with
    --resume goes on, to the same model.
    """
    from thresher.lm.training.settings import LanguageModelSettings  # noqa: PLC0415 (torch; help does without)
    from thresher.lm.transformer import Shape  # noqa: PLC0415

    check_place(output, force=force)
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    sizes = {"width": width, "layers": layers, "heads": heads, "context": context}
    shape = Shape(causal=objective == "causal", **given(**sizes, dropout=dropout))
    settings = LanguageModelSettings(
        decay_embeddings=not no_embedding_decay,
        **given(
            margin=margin,
            steps=steps,
            batch=batch,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            label_smoothing=label_smoothing,
            evaluate_every=evaluate_every,
            precision=precision,
            seed=seed,
        ),
    )
    where = chosen_device(device)
    with shown(quiet=quiet) as progress:
        text = joined(progress.counted(texts, "text"))
    learned = _trained(
        text,
        output,
        resume=resume,
        quiet=quiet,
        tokens=tokens or ("characters" if objective == "causal" else "word-pairs"),
        vocabulary=vocabulary,
        shape=shape,
        output=output_layer,
        tied=not untied,
        settings=settings,
        device=where,
        tensorboard=tensorboard,
    )
    print_summary(_summary(output, learned), _in_words, as_json=as_json, quiet=quiet)
    problems.conclude()


def _trained(
    text: str, folder: Path, *, resume: bool, quiet: bool, **how: Any
) -> "TrainedLanguageModel":
    """The model, once it is in its folder; `how` is for `fit_language_model`."""
    from thresher.lm.training.fit import SpoiledRunError, fit_language_model  # noqa: PLC0415 (torch)

    with kept_work(folder, resume=resume) as work, training_shown(quiet=quiet) as on_progress:
        try:
            learned = fit_language_model(
                text, work=work, resume=resume, on_progress=on_progress, **how
            )
        except SpoiledRunError as error:
            raise _told_with_what_is_left(error, error.learned, folder) from error
        learned.write(folder)
    return learned


def _told_with_what_is_left(
    error: InputError, learned: "TrainedLanguageModel | None", folder: Path
) -> InputError:
    """The same error, once the best model of a spoiled run has been put where it belongs."""
    if learned is None:
        return InputError(f"{error}; nothing had been learned until then")
    learned.write(folder)
    step = learned.best_step
    return InputError(f"{error}; the best model until then, of step {step}, is in {folder}")


def _summary(folder: Path, learned: "TrainedLanguageModel") -> dict[str, Any]:
    return {
        "model": str(folder),
        "tokens": learned.tokens.kind,
        "vocabulary": learned.tokens.vocabulary,
        "parameters": sum(each.numel() for each in learned.model.parameters()),
        "best_step": learned.best_step,
        "steps": learned.settings.steps,
        "test": figures_as_json(learned, learned.test),
    }


def _in_words(summary: dict[str, Any]) -> str:
    test = summary["test"]
    return (
        f"{summary['model']}: {summary['parameters']:,} parameters, {summary['vocabulary']:,} "
        f"tokens ({summary['tokens']}); best at step {summary['best_step']:,} of "
        f"{summary['steps']:,}; on the test text loss {test['loss']:.4f} nats, perplexity "
        f"{test['perplexity']:.3f}, accuracy {test['accuracy']:.3f}"
    )
