"""Train a language model from raw text in one call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from thresher.atomic_files import write_file
from thresher.errors import InputError, TrainingError
from thresher.hardware_support import check_dtype_supported
from thresher.lm.choices import OutputLayerName, TokenizerKind
from thresher.lm.model import Architecture, LanguageModel
from thresher.lm.reports.evaluation import best_temperature, evaluate
from thresher.lm.shape import Shape, require_rotary_size
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.batches import Task
from thresher.lm.training.checkpoints import load_checkpoint, run_fingerprint, save_checkpoint
from thresher.lm.training.corpus import TokenizedCorpus, tokenize_corpus
from thresher.lm.training.log import LogRow, log_to_csv, tensorboard_log
from thresher.lm.training.loop import train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingProgress, TrainingState, task_for
from thresher.progress import ProgressReporter, SilentProgress
from thresher.training_processes import SINGLE_PROCESS, Processes

CHECKPOINT, LOG = "checkpoint.safetensors", "log.csv"


class InitialModel(Protocol):
    """A model to start from: a `TrainedLanguageModel`, or one imported from another library."""

    @property
    def model(self) -> LanguageModel:
        """The model, of whose weights a copy is trained."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        ...

    @property
    def architecture(self) -> Architecture:
        """The components of the model."""
        ...


class DivergedError(TrainingError):
    """The loss became NaN or infinite.

    best_model: the model at the lowest validation loss before that, or None
    """

    def __init__(self, message: str, best_model: TrainedLanguageModel | None) -> None:
        super().__init__(message)
        self.best_model = best_model


@contextmanager
def _memory_errors_as_training_errors() -> Iterator[None]:
    """Turn the several errors of a failed allocation of memory into a TrainingError."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        is_memory_error = isinstance(error, MemoryError | torch.OutOfMemoryError)
        if not (is_memory_error or "can't allocate memory" in str(error)):
            raise
        raise TrainingError(
            "there is not enough memory; choose a smaller `batch`, `context`, `width` or number "
            "of `layers`"
        ) from error


@_memory_errors_as_training_errors()
def fit_language_model(
    text: str | TextFile,
    *,
    tokenizer: str = TokenizerKind.CHARACTERS,
    vocabulary: int | None = None,
    shape: Shape | None = None,
    output: str = OutputLayerName.FULL,
    tied: bool = True,
    initial: InitialModel | None = None,
    settings: LanguageModelSettings | None = None,
    device: torch.device | str = "cpu",
    work_dir: Path | None = None,
    resume: bool = False,
    tensorboard: Path | None = None,
    processes: Processes = SINGLE_PROCESS,
    progress: ProgressReporter | None = None,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> TrainedLanguageModel:
    """Train on the first 90 % of a text, choose the best step on the next 5 %, test on the rest.

    The tokenizer is learned from the training part, except for characters: all of the text's
    characters are tokens. Of a text in a file, only small parts are in memory at a time.

    tokenizer: a `TokenizerKind`   vocabulary: its number of tokens, see `learn_tokenizer`
    output: an `OutputLayerName`   tied: whether it shares the weights of the input embedding
    initial: a model to continue training from, whose tokenizer, shape and output layer are used;
        `shape` may only give another dropout
    work_dir: an existing folder for token ids, a checkpoint at every evaluation, and the log
    resume: continue from the checkpoint in `work_dir`, which gives the same model as one run
    tensorboard: a folder for the same log in TensorBoard's format
    processes: those that train together (`join_processes`); only the main one writes files
    progress: receives the progress of tokenizing and testing   on_progress: of training
    """
    settings = settings or LanguageModelSettings()
    progress = progress or SilentProgress()
    check_dtype_supported(settings.precision, device)
    corpus = tokenize_corpus(
        text,
        tokenizer=tokenizer if initial is None else initial.tokenizer,
        vocabulary=vocabulary,
        work_dir=work_dir,
        resume=resume,
        processes=processes,
        progress=progress,
    )
    if initial is None:
        architecture = Architecture(corpus.tokenizer.vocabulary, shape or Shape(), output, tied)
    else:
        architecture = _continued_architecture(initial.architecture, shape)
    _check_size(architecture, corpus.data)
    settings = settings.with_chosen_margin(corpus.data.counts, context=architecture.shape.context)
    state = TrainingState.new(architecture, settings, corpus.data.counts, device=device)
    if initial is not None:
        state.model.load_weights(initial.model.weights())
    log = tensorboard if processes.is_main else None
    with (
        _best_model_of_diverged_training(state, corpus, settings, progress),
        tensorboard_log(log) as add_row,
    ):
        save = _prepare_saving(
            state, corpus.data, settings, work_dir, add_row, resume=resume, processes=processes
        )
        train(
            state,
            corpus.data,
            settings,
            on_progress=on_progress,
            after_evaluation=save,
            processes=processes,
        )
    return _finish(state, corpus, settings, progress)


def _check_size(architecture: Architecture, data: TrainingData) -> None:
    """Raise InputError if the context does not fit the text, before memory is allocated for it."""
    shape = architecture.shape
    Task(architecture.vocabulary, shape.context, shape.causal).check_length(data.train)
    require_rotary_size(shape)


def _continued_architecture(initial: Architecture, shape: Shape | None) -> Architecture:
    """Return the architecture of the initial model, with the dropout of `shape` if it is given."""
    if shape is None:
        return initial
    for each in fields(Shape):
        given, needed = getattr(shape, each.name), getattr(initial.shape, each.name)
        if each.name != "dropout" and given != needed:
            raise InputError(
                f"`{each.name}` is {given}, but the model to start from has {needed}; "
                "only `dropout` can change"
            )
    return replace(initial, shape=shape)


@contextmanager
def _best_model_of_diverged_training(
    state: TrainingState,
    corpus: TokenizedCorpus,
    settings: LanguageModelSettings,
    progress: ProgressReporter,
) -> Iterator[None]:
    """Raise `DivergedError` with the best model so far instead of a `TrainingError`."""
    try:
        yield
    except TrainingError as error:
        best_model = None
        if state.best:
            state.model.load_weights(state.best)
            best_model = _finish(state, corpus, settings, progress)
        raise DivergedError(str(error), best_model) from error


def _prepare_saving(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    work_dir: Path | None,
    add_row: Callable[[LogRow], None],
    *,
    resume: bool,
    processes: Processes,
) -> Callable[[TrainingState], None]:
    """Load the checkpoint of `work_dir` to resume a run; return a function that saves a state."""
    if work_dir is None:
        return lambda state: add_row(state.log[-1])
    fingerprint = run_fingerprint(state, data, settings)
    if resume:
        load_checkpoint(work_dir / CHECKPOINT, state, fingerprint, settings)

    def save(state: TrainingState) -> None:
        if not processes.is_main:
            return
        save_checkpoint(work_dir / CHECKPOINT, state, fingerprint, settings)
        write_file(work_dir / LOG, log_to_csv(state.log).encode())
        add_row(state.log[-1])

    return save


def _finish(
    state: TrainingState,
    corpus: TokenizedCorpus,
    settings: LanguageModelSettings,
    progress: ProgressReporter,
) -> TrainedLanguageModel:
    """Find the best temperature on the validation part and evaluate on the test part."""
    tokenizer, data, test_ids = corpus.tokenizer, corpus.data, corpus.test
    model, task = state.model.eval(), task_for(state.model, settings)
    on_progress = progress.stage("test", len(test_ids) - int(task.causal))
    temperature = best_temperature(
        model, task, data.validation, batch=settings.batch, limit=settings.validation_tokens
    )
    test = evaluate(
        model,
        task,
        test_ids,
        batch=settings.batch,
        temperature=temperature,
        byte_count=predicted_bytes(tokenizer, test_ids, corpus.test_text) if task.causal else None,
        on_progress=on_progress,
    )
    return TrainedLanguageModel(
        model=model,
        tokenizer=tokenizer,
        settings=settings,
        counts=data.counts,
        best_step=state.best_step,
        log=state.log,
        test=test,
        roles=state.roles,
    )


def predicted_bytes(tokenizer: Tokenizer, ids: Tensor, text: str) -> int | None:
    """Return the number of bytes of a text without its first token, which is not predicted.

    None if the tokenizer is not lossless.

    ids: (tokens,), those of the text
    """
    if not tokenizer.lossless:
        return None
    return len(text.encode(errors="replace")) - len(tokenizer.decode(ids[:1].tolist()).encode())
