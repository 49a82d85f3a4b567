"""From raw text to a language model, in one call."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from thresher.atomic_files import write_file
from thresher.errors import InputError
from thresher.hardware_support import check_dtype_supported
from thresher.lm.model import Architecture
from thresher.lm.reports.evaluation import best_temperature, evaluate
from thresher.lm.tokens.factory import Characters, Tokens, learn_tokens, token_counts
from thresher.lm.tokens.id_files import mapped_ids
from thresher.lm.trained_model import TrainedLanguageModel, log_as_csv
from thresher.lm.training.checkpoints import load_checkpoint, run_mark, save_checkpoint
from thresher.lm.training.loop import (
    DivergedError,
    Row,
    TrainingData,
    TrainingProgress,
    TrainingState,
    task_of,
    train,
)
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.splits import split_text
from thresher.lm.training.tensorboard import tensorboard_log
from thresher.lm.transformer import Shape

CHECKPOINT, LOG = "checkpoint.safetensors", "log.csv"


class SpoiledRunError(InputError):
    """A run whose loss became no number; `learned` is the best model before that, if any."""

    def __init__(self, message: str, learned: TrainedLanguageModel | None) -> None:
        super().__init__(message)
        self.learned = learned


def fit_language_model(
    text: str,
    *,
    tokens: str = Characters.kind,
    vocabulary: int | None = None,
    shape: Shape | None = None,
    output: str = "full",
    tied: bool = True,
    settings: LanguageModelSettings | None = None,
    device: torch.device | str = "cpu",
    work: Path | None = None,
    resume: bool = False,
    tensorboard: Path | None = None,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> TrainedLanguageModel:
    """Train on the first 90 % of a text, choose by the next 5 %, report on the last 5 %.

    Byte pairs and words are learned from the training part; characters from all of it, so that each
    has a row. With a `work` folder tokens are kept there, not in memory, and so is the run, at
    every evaluation, beside a log that can be looked at; with `resume` it goes on from there, to
    the same result. The same log goes to a `tensorboard` folder, where one is named.
    """
    settings = settings or LanguageModelSettings()
    check_dtype_supported(settings.precision, device)
    parts = split_text(text)
    whole = tokens == Characters.kind
    learned = learn_tokens(tokens, text if whole else parts.train, vocabulary=vocabulary)
    ids = {name: _ids(learned, part, name, work) for name, part in vars(parts).items()}
    counts = token_counts(ids["train"].numpy(), learned.vocabulary)
    data = TrainingData(ids["train"], ids["validation"], counts)
    architecture = Architecture(learned.vocabulary, shape or Shape(), output, tied)
    state = TrainingState.new(architecture, settings, counts, device=device)

    def finished() -> TrainedLanguageModel:
        return _finished(state, data, learned, settings, ids["test"], parts.test)

    try:
        with tensorboard_log(tensorboard) as add_row:
            keep = _keeper(state, data, settings, work, add_row, resume=resume)
            train(state, data, settings, on_progress=on_progress, after_evaluation=keep)
    except DivergedError as error:
        best = None
        if state.best:
            state.model.load_weights(state.best)
            best = finished()
        raise SpoiledRunError(str(error), best) from error
    return finished()


def _ids(tokens: Tokens, text: str, name: str, work: Path | None) -> Tensor:
    """The tokens of a part: in a file where there is a folder for it, else in memory."""
    if work is None:
        return torch.from_numpy(tokens.encode(text))
    return mapped_ids(tokens, text, work / f"{name}.ids")


def _keeper(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    work: Path | None,
    add_row: Callable[[Row], None],
    *,
    resume: bool,
) -> Callable[[TrainingState], None]:
    """What saves a state in the work folder, after the state there has been taken up."""
    if work is None:
        return lambda state: add_row(state.log[-1])
    mark = run_mark(state, data, settings)
    if resume:
        load_checkpoint(work / CHECKPOINT, state, mark)

    def keep(state: TrainingState) -> None:
        save_checkpoint(work / CHECKPOINT, state, mark)
        write_file(work / LOG, log_as_csv(state.log).encode())
        add_row(state.log[-1])

    return keep


def _finished(
    state: TrainingState,
    data: TrainingData,
    tokens: Tokens,
    settings: LanguageModelSettings,
    test: Tensor,
    test_text: str,
) -> TrainedLanguageModel:
    """The model at its best, with its temperature and what it makes of the test text."""
    model, task = state.model.eval(), task_of(state.model, settings)
    temperature = best_temperature(
        model, task, data.validation, batch=settings.batch, limit=settings.validation_tokens
    )
    found = evaluate(
        model,
        task,
        test,
        batch=settings.batch,
        temperature=temperature,
        byte_count=predicted_bytes(tokens, test, test_text) if task.causal else None,
    )
    return TrainedLanguageModel(
        model=model,
        tokens=tokens,
        settings=settings,
        counts=data.counts,
        best_step=state.best_step,
        log=state.log,
        test=found,
        roles=state.roles,
    )


def predicted_bytes(tokens: Tokens, ids: Tensor, text: str) -> int | None:
    """The bytes of a text as it is read, without its first token, which nothing predicts.

    None where tokens leave out a part of the text.
    """
    if not tokens.lossless:
        return None
    return len(text.encode(errors="replace")) - len(tokens.decode(ids[:1].tolist()).encode())
