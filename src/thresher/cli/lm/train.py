"""thresher lm train: train a language model on raw text."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.cli.errors import Problems
from thresher.cli.lm.config_file import RunConfig
from thresher.cli.lm.figures import figures_as_json
from thresher.cli.lm.options import (
    InitFrom,
    LanguageModelTrainingOptions,
    NoEmbeddingDecay,
    OutputLayerOptions,
    TensorBoard,
    TokenizerOptions,
    TransformerOptions,
)
from thresher.cli.lm.texts import text_in_file
from thresher.cli.models import chosen_device
from thresher.cli.option_groups import with_option_groups
from thresher.cli.options import JsonRunOptions, ResumableModelOptions, TextOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.errors import InputError, TrainingError
from thresher.lm.choices import Objective, OutputLayerName
from thresher.work_folder import work_folder

if TYPE_CHECKING:
    from thresher.lm.trained_model import TrainedLanguageModel
    from thresher.lm.training.fit import DivergedError, InitialModel


@with_option_groups
def train(
    *,
    texts: TextOptions,
    model: ResumableModelOptions,
    tokenizer: TokenizerOptions,
    shape: TransformerOptions,
    output_layer: OutputLayerOptions,
    training: LanguageModelTrainingOptions,
    no_embedding_decay: NoEmbeddingDecay = False,
    init_from: InitFrom = None,
    tensorboard: TensorBoard = None,
    config: RunConfig = None,
    run: JsonRunOptions,
) -> None:
    """Train a language model on raw text.

    thresher lm train corpus.txt -o my-lm --margin 4
    thresher lm train corpus/*.txt -o my-lm --tokens bpe --vocabulary 8192
    thresher lm train corpus.txt -o my-encoder --objective masked
    thresher lm train corpus.txt -o my-gpt2 --init-from gpt2-folder --margin 4
    torchrun --nproc-per-node 2 -m thresher lm train corpus.txt -o my-lm

    The first 90 % of the text are the training split, the next 5 % the validation
    split on which the best checkpoint is chosen, the last 5 % the test split.
    After Ctrl-C, run the same command with --resume: it continues and gives the
    same model.
    """
    from thresher.lm.shape import Shape  # noqa: PLC0415
    from thresher.lm.training.settings import LanguageModelSettings  # noqa: PLC0415 (torch)
    from thresher.training_processes import join_processes  # noqa: PLC0415 (torch)

    model.check()
    problems = Problems()
    causal, initial = tokenizer.objective == Objective.CAUSAL, None
    chosen_shape = Shape(causal=causal, **shape.given_options())
    if init_from is not None:
        initial = read_initial_model(init_from)
        check_same_components(initial, tokenizer, output_layer)
        chosen_shape = replace(initial.architecture.shape, **shape.given_options())
    arguments = {
        "tokenizer": tokenizer.kind.value,
        "vocabulary": tokenizer.vocabulary,
        "shape": chosen_shape,
        "output": output_layer.output_layer.value,
        "tied": not output_layer.untied,
        "settings": LanguageModelSettings(
            decay_embeddings=not no_embedding_decay, **training.given_options()
        ),
        "tensorboard": tensorboard,
        "initial": initial,
    }
    with join_processes(chosen_device(run.device)) as (processes, device):
        quiet = run.quiet or not processes.is_main
        options = arguments | {"processes": processes, "device": device}
        trained = _train(texts, problems, model, init_from, options, quiet=quiet)
    if processes.is_main:
        print_summary(_summary(model.output, trained), _summary_line, run)
    problems.exit_if_any()


def read_initial_model(folder: Path) -> "InitialModel":
    """Read a model of this library, or one of transformers."""
    from thresher.lm.pretrained.folder import (  # noqa: PLC0415 (torch)
        is_pretrained_folder,
        read_pretrained,
    )
    from thresher.lm.trained_model import TrainedLanguageModel  # noqa: PLC0415

    if is_pretrained_folder(folder):
        return read_pretrained(folder)
    return TrainedLanguageModel.read(folder)


def check_same_components(
    initial: "InitialModel", tokenizer: TokenizerOptions, output_layer: OutputLayerOptions
) -> None:
    """Raise InputError if options ask for other components than those of the initial model.

    Options with their default values are taken as not given. Options that repeat what the model
    has are allowed: its run.toml contains them.
    """
    architecture = initial.architecture
    causal = architecture.shape.causal
    components: dict[str, tuple[Any, Any, Any]] = {  # given, default, of the initial model
        "tokens": (tokenizer.tokens, None, initial.tokenizer.kind),
        "vocabulary": (tokenizer.vocabulary, None, initial.tokenizer.vocabulary),
        "objective": (
            tokenizer.objective,
            Objective.CAUSAL,
            Objective.CAUSAL if causal else Objective.MASKED,
        ),
        "output_layer": (output_layer.output_layer, OutputLayerName.FULL, architecture.output),
        "untied": (output_layer.untied, False, not architecture.tied),
    }
    for name, (given, default, initial_value) in components.items():
        if given not in (default, initial_value):
            raise InputError(
                f"`{name}` is {given}, but the model to start from has {initial_value}; "
                f"leave out `{name}`"
            )


def _train(
    texts: TextOptions,
    problems: Problems,
    model: ResumableModelOptions,
    init_from: Path | None,
    arguments: dict[str, Any],
    *,
    quiet: bool,
) -> "TrainedLanguageModel":
    """Train and save a model; `arguments` are those of `fit_language_model`."""
    from thresher.lm.training.fit import DivergedError, fit_language_model  # noqa: PLC0415 (torch)

    folder, resume, processes = model.output, model.resume, arguments["processes"]
    with (
        work_folder(folder, resume=resume, processes=processes) as work_dir,
        progress_bars(quiet=quiet) as progress,
    ):
        with processes.main_first() as is_main:
            text = text_in_file(
                texts, problems, work_dir, resume=resume or not is_main, progress=progress
            )
        try:
            trained = fit_language_model(
                text,
                work_dir=work_dir,
                resume=resume,
                progress=progress,
                on_progress=progress.training("training"),
                **arguments,
            )
        except DivergedError as error:
            if not processes.is_main:
                raise
            raise _after_saving(error, folder, init_from) from error
        if processes.is_main:
            trained.write(folder, run_options_too=True, init_from=init_from)
    return trained


def _after_saving(error: "DivergedError", folder: Path, init_from: Path | None) -> TrainingError:
    """Save the best model of a diverged run, if any, and return an error that says so."""
    best = error.best_model
    if best is None:
        return TrainingError(f"{error}; no model was saved")
    best.write(folder, run_options_too=True, init_from=init_from)
    where = f"the best model so far, from step {best.best_step}, is in {folder}"
    return TrainingError(f"{error}; {where}")


def _summary(folder: Path, trained: "TrainedLanguageModel") -> dict[str, Any]:
    return {
        "model": str(folder),
        "tokens": trained.tokenizer.kind,
        "vocabulary": trained.tokenizer.vocabulary,
        "parameters": sum(each.numel() for each in trained.model.parameters()),
        "best_step": trained.best_step,
        "steps": trained.settings.steps,
        "test": figures_as_json(trained, trained.test),
    }


def _summary_line(summary: dict[str, Any]) -> str:
    test = summary["test"]
    return (
        f"{summary['model']}: {summary['parameters']:,} parameters, {summary['vocabulary']:,} "
        f"tokens ({summary['tokens']}); best at step {summary['best_step']:,} of "
        f"{summary['steps']:,}; on the test split loss {test['loss']:.4f} nats, perplexity "
        f"{test['perplexity']:.3f}, accuracy {test['accuracy']:.3f}"
    )
