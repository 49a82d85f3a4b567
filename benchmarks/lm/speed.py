"""Measure the speed of the training loop, the margin, the diagnostics and the output layers.

Variants alternate, so that temporary load of the machine affects all of them; medians are reported.
"""

import math
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.nn import functional

from benchmarks.lm.corpora import Corpus, corpus
from benchmarks.lm.experiments import LAYERS, SHAKESPEARE, SHAKESPEARE_CPU, WORDS
from benchmarks.lm.machine import Machine
from benchmarks.lm.rows import Result, Row, write_result
from benchmarks.lm.training import new_state, parameters
from thresher.lm.output_layers import OutputModule, output_layer
from thresher.lm.training.loop import train
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingState, task_for

VOCABULARIES = (4096, 16_384, 65_536, 262_144)

Work = Callable[[], object]


def run(machine: Machine, *, quick: bool, folder: Path, only: Collection[str] = ()) -> None:
    """Measure everything, or what `only` names; `quick` only checks that everything runs."""
    kind = "GPU" if machine.device.startswith("cuda") else "CPU"
    measures = {
        "training": training_loop,
        "margin": margin,
        "output layers": output_layers,
        "classes": classes,
    }
    for name, measure in measures.items():
        if only and name not in only:
            continue
        started = time.perf_counter()
        try:
            found = measure(machine, quick)
        except Exception:  # the other measurements continue
            print(f"speed: {name} FAILED\n{traceback.format_exc()}", flush=True)
            continue
        seconds = time.perf_counter() - started
        about = {"experiment": "speed", "row": f"{name}, {kind}", "seed": 0}
        write_result(about | {"machine": machine.about(), "seconds": seconds} | found, folder)
        print(f"speed: {name}, {kind}: {seconds:.0f} s  {found}", flush=True)


def training_loop(machine: Machine, quick: bool) -> Result:
    """Return tokens per second of a minimal loop, of `train`, and of `train` with diagnostics.

    Each turn is one evaluation interval and includes one evaluation. The minimal loop has its
    batches on the device; it also clips gradients, because that is part of the recipe.
    """
    on_gpu = machine.device.startswith("cuda")
    row = (SHAKESPEARE if on_gpu else SHAKESPEARE_CPU).rows["standard"]
    steps, turns = (3, 1) if quick else (250, 3) if on_gpu else (15, 5)
    settings = {"steps": steps, "evaluate_every": steps}
    if not on_gpu:
        settings |= {"validation_tokens": 2048}
    row = replace(row, settings=dict(row.settings) | settings)
    variants = {
        "bare": row.with_(roles=False),
        "train": row.with_(roles=False),
        "diagnostics": row.with_(roles=True),
    }
    text = corpus(row.corpus)
    works = {
        name: (minimal_loop if name == "bare" else library_loop)(each, text, machine)
        for name, each in variants.items()
    }
    times = in_turns(works, turns, machine, warm_up=1)
    tokens = steps * row.settings["batch"] * row.shape["context"]
    return {
        "settings": dict(row.settings) | dict(row.shape),
        "seconds_per_turn": times,
        "tokens_per_second": {name: tokens / median(each) for name, each in times.items()},
        "train_over_bare": _ratio(times, "bare", "train"),
        "diagnostics_cost": _ratio(times, "diagnostics", "train") - 1,
    }


def margin(machine: Machine, quick: bool) -> Result:
    """Return the cost of the margin relative to standard cross-entropy, in whole training steps.

    The difference is small, so there are many short turns: other load on a machine lasts longer.
    """
    on_gpu = machine.device.startswith("cuda")
    row = (SHAKESPEARE if on_gpu else SHAKESPEARE_CPU).rows["standard"].with_(roles=False)
    steps, turns = (1, 2) if quick else (20, 20) if on_gpu else (4, 10)
    text = corpus(row.corpus)
    works = {}
    for name, each in (("plain", row), ("margin", row.with_(margin="4"))):
        works[name] = _steps(_state(each, text, machine), text, each, machine, steps)
    times = in_turns(works, turns, machine, warm_up=2)
    return {
        "settings": dict(row.settings) | dict(row.shape) | {"margin": "4", "steps": steps},
        "seconds_per_turn": times,
        "margin_cost": _ratio(times, "margin", "plain") - 1,
    }


def minimal_loop(row: Row, text: Corpus, machine: Machine) -> Work:
    """Return a function that runs model, loss, gradients and AdamW, and nothing else."""
    settings = _settings(row, machine)
    state = new_state(row, text, settings, machine)
    model, optimizer = state.model.train(), state.optimizer
    task, ids = task_for(model, settings), text.train.to(machine.device)
    batches = [
        task.training_batch(ids, size=settings.batch, seed=0, step=step) for step in range(50)
    ]
    use_bfloat16 = machine.precision == "bfloat16"

    def loop() -> None:
        for step in range(settings.steps):
            batch = batches[step % len(batches)]
            with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=use_bfloat16):
                logits = functional.linear(model(batch.input), model.embedding)
                loss = functional.cross_entropy(logits.flatten(0, 1), batch.target.flatten())
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimizer.step()

    return loop


def library_loop(row: Row, text: Corpus, machine: Machine) -> Work:
    """Return a function that runs the library's `train` from the first step."""
    settings = _settings(row, machine)
    state = new_state(row, text, settings, machine)
    data = TrainingData(text.train.to(machine.device), text.all_validation(), text.counts)

    def loop() -> None:
        state.step, state.best_loss = 0, math.inf
        train(state, data, settings)

    return loop


def output_layers(machine: Machine, quick: bool) -> Result:
    """Return tokens per second of whole training steps by output layer, and their parameters."""
    text = corpus(WORDS.corpus)
    on_gpu = machine.device.startswith("cuda")
    steps = 1 if quick else 25 if on_gpu else 2
    batch = WORDS.settings["batch"] if on_gpu else 8
    settings = dict(WORDS.settings) | {"steps": steps, "batch": batch, "roles": False}
    rows = {name: replace(WORDS, output=name, settings=settings) for name in LAYERS}
    rows["full, margin 4"] = rows["full"].with_(margin="4")
    states = {name: _state(row, text, machine) for name, row in rows.items()}
    works = {
        name: _steps(state, text, rows[name], machine, steps) for name, state in states.items()
    }
    times = in_turns(works, 1 if quick else 3, machine, warm_up=1)
    tokens = steps * batch * WORDS.shape["context"]
    return {
        "settings": settings | dict(WORDS.shape),
        "tokens_per_second": {name: tokens / median(each) for name, each in times.items()},
        "parameters": {name: parameters(state.model) for name, state in states.items()},
        "output_parameters": {
            name: parameters(state.model.output) for name, state in states.items()
        },
    }


def _settings(row: Row, machine: Machine) -> LanguageModelSettings:
    return LanguageModelSettings(**dict(row.settings) | {"precision": machine.precision})


def _state(row: Row, text: Corpus, machine: Machine) -> TrainingState:
    return new_state(row, text, _settings(row, machine), machine)


def _steps(state: TrainingState, text: Corpus, row: Row, machine: Machine, steps: int) -> Work:
    """Return a function that runs training steps without evaluation."""
    settings = _settings(row, machine)
    model, optimizer = state.model.train(), state.optimizer
    task, ids = task_for(model, settings), text.train.to(machine.device)
    batches = [
        task.training_batch(ids, size=settings.batch, seed=0, step=step) for step in range(steps)
    ]
    use_bfloat16 = machine.precision == "bfloat16"
    noise = torch.Generator(machine.device).manual_seed(0)
    model.set_margin(settings.margin.at(step=0, steps=1, vocabulary=len(model.embedding)))

    def loop() -> None:
        for batch in batches:
            with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=use_bfloat16):
                loss = model.output.loss(model(batch.input), batch.target, generator=noise)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    return loop


def classes(machine: Machine, quick: bool) -> Result:
    """Return the seconds from hidden states to gradients for the full softmax and √V classes."""
    on_gpu = machine.device.startswith("cuda")
    width, positions = (512, 8192) if on_gpu else (128, 1024)
    sizes = VOCABULARIES[:1] if quick else VOCABULARIES
    found: dict[str, Any] = {"width": width, "positions": positions, "vocabularies": {}}
    for vocabulary in sizes:
        frequencies = 1 / torch.arange(1, vocabulary + 1, dtype=torch.float64)
        works = {
            name: _layer_work(
                output_layer(name, width, vocabulary, frequencies=frequencies),
                frequencies,
                positions,
                machine,
            )
            for name in ("full", "classes")
        }
        times = in_turns(works, 1 if quick else 7 if on_gpu else 3, machine, warm_up=1)
        seconds = {name: median(each) for name, each in times.items()}
        found["vocabularies"][str(vocabulary)] = seconds | {
            "speed_up": seconds["full"] / seconds["classes"]
        }
    return found


def _layer_work(
    layer: OutputModule, frequencies: torch.Tensor, positions: int, machine: Machine
) -> Work:
    """Return a function that computes loss and gradients in float32 (TF32 on a GPU).

    The targets have a Zipfian distribution, like words.
    """
    draw = torch.Generator().manual_seed(0)
    target = torch.multinomial(frequencies, positions, replacement=True, generator=draw)
    hidden = torch.randn(positions, layer.width, generator=draw)
    layer, target = layer.to(machine.device), target.to(machine.device)
    hidden = hidden.to(machine.device).requires_grad_()

    def work() -> None:
        layer.zero_grad()
        layer.loss(hidden, target).backward()  # type: ignore[no-untyped-call]

    return work


def in_turns(
    works: dict[str, Work], turns: int, machine: Machine, *, warm_up: int
) -> dict[str, list[float]]:
    """Return the seconds of every turn of each function."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(warm_up + turns):
        for name, work in works.items():
            machine.wait()
            started = time.perf_counter()
            work()
            machine.wait()
            if turn >= warm_up:
                times[name].append(time.perf_counter() - started)
    return times


def _ratio(times: dict[str, list[float]], over: str, under: str) -> float:
    """Return the median over turns of the ratio of two variants' times in the same turn."""
    return median(a / b for a, b in zip(times[over], times[under], strict=True))
