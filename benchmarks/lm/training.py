"""Train the model of one row and measure it after its last and after its best step."""

import time
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from benchmarks.lm.corpora import Corpus
from benchmarks.lm.machine import Machine, compile_layers
from benchmarks.lm.rows import Result, Row
from thresher.lm.model import Architecture, LanguageModel
from thresher.lm.reports.evaluation import Evaluation, best_temperature, evaluate
from thresher.lm.reports.frequency_groups import frequency_groups, group_means
from thresher.lm.reports.gradient_roles import ROLES
from thresher.lm.reports.report import tokenizer_efficiency
from thresher.lm.shape import Shape
from thresher.lm.training.loop import train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState, task_for

EVALUATION_TOKENS = 8192  # tokens per evaluation batch
SMALL_VOCABULARY = 200  # up to this size, the figures of each token are recorded
RARE = 30  # a token with fewer occurrences in the training text is rare


def train_row(row: Row, corpus: Corpus, seed: int, machine: Machine) -> Result:
    """Return the result of one row and seed.

    final: test texts after the last step, at temperature 1
    best: test texts after the step with the best validation loss, at the temperature that is best
    on the validation text
    validation: validation texts after that step, at that temperature
    """
    given: dict[str, Any] = {"roles": False, "precision": machine.precision, **row.settings}
    settings = LanguageModelSettings(**given | {"seed": seed}).with_chosen_margin(
        corpus.counts, context=row.shape["context"]
    )
    state = new_state(row, corpus, settings, machine)
    data = TrainingData(corpus.train, corpus.all_validation(), corpus.counts, corpus.parts)
    final: dict[str, Any] = {}

    def at_end(state: TrainingState) -> None:
        if state.step == settings.steps:
            final.update(_tests(state.model, corpus, settings, dict.fromkeys(corpus.test, 1.0)))

    started = time.perf_counter()
    model = train(state, data, settings, after_evaluation=at_end)
    machine.wait()
    seconds = time.perf_counter() - started
    temperatures = {
        name: best_temperature(model, task_for(model, settings), ids, batch=_windows(model))
        for name, ids in corpus.validation.items()
    }
    return {
        "settings": settings.as_dict() | asdict(model.architecture),
        "parameters": parameters(model),
        "training_seconds": seconds,
        "best_step": state.best_step,
        "best_loss": state.best_loss,
        "log": state.log,
        "counts": corpus.counts.tolist() if corpus.vocabulary <= SMALL_VOCABULARY else None,
        "efficiency": tokenizer_efficiency(corpus.counts),
        "final": final,
        "best": _tests(model, corpus, settings, temperatures),
        "validation": {
            name: _as_json(_evaluated(model, ids, settings, temperatures[name]), corpus.counts)
            for name, ids in corpus.validation.items()
        },
        "roles": state.roles and {role: getattr(state.roles, role).tolist() for role in ROLES},
    }


def new_state(
    row: Row, corpus: Corpus, settings: LanguageModelSettings, machine: Machine
) -> TrainingState:
    """Return a model before its training."""
    architecture = Architecture(corpus.vocabulary, Shape(**row.shape), row.output, row.tied)
    state = TrainingState.new(architecture, settings, corpus.counts, device=machine.device)
    if machine.compiled:
        compile_layers(state.model)
    return state


def parameters(model: torch.nn.Module) -> int:
    """Return the number of parameters."""
    return sum(each.numel() for each in model.parameters())


def _tests(
    model: LanguageModel,
    corpus: Corpus,
    settings: LanguageModelSettings,
    temperatures: dict[str, float],
) -> dict[str, Any]:
    return {
        name: _as_json(
            _evaluated(model, ids, settings, temperatures[name], corpus.test_bytes[name]),
            corpus.counts,
        )
        for name, ids in corpus.test.items()
    }


def _evaluated(
    model: LanguageModel,
    ids: Tensor,
    settings: LanguageModelSettings,
    temperature: float,
    byte_count: int | None = None,
) -> Evaluation:
    task = task_for(model, settings)
    return evaluate(
        model, task, ids, batch=_windows(model), temperature=temperature, byte_count=byte_count
    )


def _windows(model: LanguageModel) -> int:
    return max(1, EVALUATION_TOKENS // model.architecture.shape.context)


def _as_json(found: Evaluation, counts: Tensor) -> dict[str, Any]:
    sums, rare, groups = found.tokens, counts < RARE, frequency_groups(counts)
    means = group_means(found.token_losses, groups)
    each: dict[str, Any] = {
        "loss_by_popularity": {group.name: mean for group, mean in zip(groups, means, strict=True)},
        "rare_count": sums.count[rare].sum().item(),
        "rare_loss": sums.loss[rare].sum().item(),
    }
    if len(counts) <= SMALL_VOCABULARY:
        each |= {"token_counts": sums.count.tolist(), "token_losses": sums.loss.tolist()}
    return {**found.metrics(), **each}
