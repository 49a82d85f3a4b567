"""Train the gates of one row of the rationale benchmark and measure them."""

import copy
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.data import ROOT
from benchmarks.machine import digest, peak_memory
from benchmarks.rationales.gradient_noise import GradientNoise, gradient_noise
from benchmarks.rationales.rows import Row
from benchmarks.rationales.tasks import Task
from thresher.encoders import Encoder
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.rationales.classifier import Classifier, GatedEncoder, seeded_classifier
from thresher.rationales.classifier_training import train_classifier
from thresher.rationales.corpus import LabelledCorpus, hold_out_texts, split_by_text
from thresher.rationales.evaluation import compare_selections, selected_word_counts
from thresher.rationales.inference import text_vectors
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.training import (
    OPEN,
    GateTraining,
    TrainedGates,
    train_gates,
)

_NOISE_DRAWS, _NOISE_TEXTS = 16, 16


@dataclass(frozen=True)
class PreparedTask:
    """A task with what its rows share: word vectors and a classifier of whole texts."""

    task: Task
    corpus: LabelledCorpus
    gated_encoder: GatedEncoder
    classifier: Classifier
    answers: Tensor
    training: list[int]
    held_out: list[int]
    seconds: float


def prepare(task: Task, encoder: Encoder, work: Path, *, gates_at: str, seed: int) -> PreparedTask:
    """Encode the texts and train the classifier that the gates explain or continue to train.

    work: folder for the cached word vectors
    """
    started = time.perf_counter()
    gated_encoder = GatedEncoder(encoder, gates_at)
    path = work / f"{task.name}-{seed}.npy"
    vectors = cache_vectors(encoder, task.texts, path)
    corpus = LabelledCorpus(task.texts, vectors, UnitIndex.of_words(task.texts), task.labels)
    training, held_out = hold_out_texts(task.train, fraction=0.1, seed=seed)
    whole = text_vectors(gated_encoder, task.texts)
    classifier = train_classifier(
        gated_encoder,
        task.texts,
        whole,
        task.labels,
        label_count=len(task.label_names),
        training=training,
        held_out=held_out,
        settings=RationaleSettings(seed=seed, partial_readings=1),
    )
    with torch.no_grad():
        answers = classifier(whole).argmax(-1).cpu()
    seconds = time.perf_counter() - started
    return PreparedTask(
        task, corpus, gated_encoder, classifier, answers, training, held_out, seconds
    )


def run_row(row: Row, seed: int, data: PreparedTask) -> dict[str, Any]:
    """Train the gates and measure them on the test texts."""
    task, encoder = data.task, data.gated_encoder.encoder
    given = {"sparsity_target": task.rate, "expected_rate": task.rate, "steps": task.steps}
    settings = RationaleSettings(**{**given, "checks": 5, "seed": seed, **row.settings})
    classifier = copy.deepcopy(data.classifier)  # joint training changes its classifier
    if not settings.head_start:
        labels = len(task.label_names)
        classifier = seeded_classifier(seed, encoder.width, labels, hidden=settings.hidden)
        classifier.to(encoder.device)
    if settings.mode == "frozen":
        data = replace(data, corpus=replace(data.corpus, labels=data.answers))
    noise = asdict(_noise(settings, classifier, data))
    started = time.perf_counter()
    trained = train_gates(
        data.gated_encoder,
        data.corpus,
        classifier,
        training=data.training,
        held_out=data.held_out,
        settings=settings,
    )
    seconds = time.perf_counter() - started
    return {
        "settings": asdict(settings),
        "seconds": round(seconds, 1),
        "shared_seconds": round(data.seconds, 1),
        **peak_memory(),
        "gradient_at_start": noise,
        "checks": [asdict(check) for check in trained.checks],
        "chosen": trained.chosen.step,
        **_figures(row, seed, data, trained),
    }


def _figures(row: Row, seed: int, data: PreparedTask, trained: TrainedGates) -> dict[str, Any]:
    task = data.task
    test = range(task.train, len(task.texts))
    texts = [task.texts[i] for i in test]
    device = data.gated_encoder.encoder.device
    vectors = data.corpus.vectors_of(test, device)
    opened = open_probabilities(trained.selector, vectors, device)
    selected = split_by_text(opened >= OPEN, texts)
    figures = compare_selections(
        data.gated_encoder,
        trained.classifier,
        texts,
        task.labels[list(test)],
        selected,
        references=row.references,
        seed=seed,
    )
    found: dict[str, Any] = {"figures": {name: asdict(each) for name, each in figures.items()}}
    if task.gold is not None:
        counts = selected_word_counts([task.gold[i] for i in test], selected)
        scores = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
        found["token"] = scores | asdict(counts)
    found["examples"] = [
        " ".join(f"[{word}]" if kept else word for word, kept in zip(words, mask, strict=True))
        for words, mask in zip(texts[:5], selected[:5], strict=True)
    ]
    return found


def _noise(
    settings: RationaleSettings, classifier: Classifier, data: PreparedTask
) -> GradientNoise:
    """Measure the noise of the task gradient in the selector's weights before the first step."""
    loop = GateTraining.new(data.gated_encoder, data.corpus, classifier, settings)
    texts = data.training[:_NOISE_TEXTS]

    def surrogate() -> Tensor:
        return loop.estimate_task(texts, loop.gates(texts)).surrogate

    surrogate()  # initializes the moving-average baseline
    return gradient_noise(surrogate, list(loop.selector.parameters()), draws=_NOISE_DRAWS)


def code_version() -> str:
    """Return a digest of the code of gates, of rationales and of this benchmark."""
    source = ROOT / "src" / "thresher"
    folders = (source / "gates", source / "rationales", ROOT / "benchmarks" / "rationales")
    paths = sorted(path for folder in folders for path in folder.glob("*.py"))
    return digest(path for path in paths if path.name != "section.py")
