"""Train a language model from raw text in one call."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from thresher.atomic_files import write_file
from thresher.deprecation import renamed_arguments
from thresher.errors import TrainingError
from thresher.hardware_support import check_dtype_supported
from thresher.lm.choices import OutputLayerName, TokenizerKind
from thresher.lm.model import Architecture
from thresher.lm.reports.evaluation import best_temperature, evaluate
from thresher.lm.tokens.counts import token_counts
from thresher.lm.tokens.encoding import encode_compactly
from thresher.lm.tokens.factory import learn_tokenizer
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.checkpoints import load_checkpoint, run_fingerprint, save_checkpoint
from thresher.lm.training.log import LogRow, log_to_csv, tensorboard_log
from thresher.lm.training.loop import train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.splits import TextSplits, split_text
from thresher.lm.training.state import TrainingData, TrainingProgress, TrainingState, task_for
from thresher.lm.transformer import Shape

CHECKPOINT, LOG = "checkpoint.safetensors", "log.csv"


class DivergedError(TrainingError):
    """The loss became NaN or infinite.

    best_model: the model at the lowest validation loss before that, or None
    """

    def __init__(self, message: str, best_model: TrainedLanguageModel | None) -> None:
        super().__init__(message)
        self.best_model = best_model


@renamed_arguments(tokens="tokenizer", work="work_dir")
def fit_language_model(
    text: str,
    *,
    tokenizer: str = TokenizerKind.CHARACTERS,
    vocabulary: int | None = None,
    shape: Shape | None = None,
    output: str = OutputLayerName.FULL,
    tied: bool = True,
    settings: LanguageModelSettings | None = None,
    device: torch.device | str = "cpu",
    work_dir: Path | None = None,
    resume: bool = False,
    tensorboard: Path | None = None,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> TrainedLanguageModel:
    """Train on the first 90 % of a text, choose the best step on the next 5 %, test on the rest.

    The tokenizer is learned from the training part, except for characters: all of the text's
    characters are tokens.

    tokenizer: a `TokenizerKind`   vocabulary: its number of tokens, see `learn_tokenizer`
    output: an `OutputLayerName`   tied: whether it shares the weights of the input embedding
    work_dir: an existing folder for token ids, a checkpoint at every evaluation, and the log
    resume: continue from the checkpoint in `work_dir`, which gives the same model as one run
    tensorboard: a folder for the same log in TensorBoard's format
    """
    settings = settings or LanguageModelSettings()
    check_dtype_supported(settings.precision, device)
    splits = split_text(text)
    all_characters = tokenizer == TokenizerKind.CHARACTERS
    learned_tokenizer = learn_tokenizer(
        tokenizer, text if all_characters else splits.train, vocabulary=vocabulary
    )
    data, test_ids = _encode_splits(learned_tokenizer, splits, work_dir)
    architecture = Architecture(learned_tokenizer.vocabulary, shape or Shape(), output, tied)
    settings = settings.with_chosen_margin(data.counts, context=architecture.shape.context)
    state = TrainingState.new(architecture, settings, data.counts, device=device)

    def finish() -> TrainedLanguageModel:
        return _finish(state, data, learned_tokenizer, settings, test_ids, str(splits.test))

    try:
        with tensorboard_log(tensorboard) as add_row:
            save = _prepare_saving(state, data, settings, work_dir, add_row, resume=resume)
            train(state, data, settings, on_progress=on_progress, after_evaluation=save)
    except TrainingError as error:
        best_model = None
        if state.best:
            state.model.load_weights(state.best)
            best_model = finish()
        raise DivergedError(str(error), best_model) from error
    return finish()


def _encode_splits(
    tokenizer: Tokenizer, splits: TextSplits, work_dir: Path | None
) -> tuple[TrainingData, Tensor]:
    """Return the ids of the training and validation parts, and those of the test part.

    They are kept in files of `work_dir`, or in memory without one.
    """
    train, validation, test = (
        encode_compactly(
            tokenizer,
            getattr(splits, name),
            path=None if work_dir is None else work_dir / f"{name}.ids",
        )
        for name in ("train", "validation", "test")
    )
    counts = token_counts(train.numpy(), tokenizer.vocabulary)
    return TrainingData(train, validation, counts), test


def _prepare_saving(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    work_dir: Path | None,
    add_row: Callable[[LogRow], None],
    *,
    resume: bool,
) -> Callable[[TrainingState], None]:
    """Load the checkpoint of `work_dir` to resume a run; return a function that saves a state."""
    if work_dir is None:
        return lambda state: add_row(state.log[-1])
    fingerprint = run_fingerprint(state, data, settings)
    if resume:
        load_checkpoint(work_dir / CHECKPOINT, state, fingerprint)

    def save(state: TrainingState) -> None:
        save_checkpoint(work_dir / CHECKPOINT, state, fingerprint)
        write_file(work_dir / LOG, log_to_csv(state.log).encode())
        add_row(state.log[-1])

    return save


def _finish(
    state: TrainingState,
    data: TrainingData,
    tokenizer: Tokenizer,
    settings: LanguageModelSettings,
    test_ids: Tensor,
    test_text: str,
) -> TrainedLanguageModel:
    """Find the best temperature on the validation part and evaluate on the test part."""
    model, task = state.model.eval(), task_for(state.model, settings)
    temperature = best_temperature(
        model, task, data.validation, batch=settings.batch, limit=settings.validation_tokens
    )
    test = evaluate(
        model,
        task,
        test_ids,
        batch=settings.batch,
        temperature=temperature,
        byte_count=predicted_bytes(tokenizer, test_ids, test_text) if task.causal else None,
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
