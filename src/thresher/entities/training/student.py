"""Train a fast finder on the gates of a teacher."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import Encoder
from thresher.encoders.static_encoder import StaticEncoder
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.model import FinderModel
from thresher.entities.model_card import CREDITS
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training.distillation import (
    DistillationSettings,
    Student,
    steps_per_epoch,
    train_student,
)
from thresher.entities.training.fit import require_enough_words
from thresher.entities.word_scorer import WordScorer
from thresher.gates.batching import sentence_starts
from thresher.gates.features import Features
from thresher.gates.optimization import seeded
from thresher.progress import ProgressReporter

_MIN_STEPS = 500  # a small text gets more epochs to reach this
_TEACHER_SENTENCES = 2048  # scored at a time by the teacher
_SENTENCES_PER_BATCH = 512  # for the gates of the trained student


def distill_finder(
    teacher: WordScorer,
    sentences: Sequence[Sequence[str]],
    *,
    settings: DistillationSettings | None,
    progress: ProgressReporter,
) -> tuple[StaticEncoder, FinderModel]:
    """Train a model on the gates that a teacher gives to raw sentences; return it with its encoder.

    The model has no kinds.
    """
    require_enough_words(sentences, progress)
    advance = progress.stage("encoding", len(sentences))
    gates: list[Scores] = []
    for low in range(0, len(sentences), _TEACHER_SENTENCES):
        group = sentences[low : low + _TEACHER_SENTENCES]
        gates += np.split(teacher.finding_gates(group), sentence_starts(group)[1:-1])
        advance(len(group))
    model = distill_model(
        teacher.model,
        teacher.encoder,
        sentences,
        gates,
        settings=settings or DistillationSettings(),
        progress=progress,
    )
    assert model.static is not None
    return model.static, model


def distill_model(
    model: FinderModel,
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    gates: Sequence[Scores],
    *,
    vectors: Sequence[NDArray[np.float16]] | None = None,
    settings: DistillationSettings,
    progress: ProgressReporter,
) -> FinderModel:
    """Train a model that imitates `model`, with a static encoder instead of a transformer.

    encoder: the teacher's   gates: the teacher's P(open), (words,) for each sentence
    vectors: the teacher's word vectors, (words, width) for each sentence; they help the student to
        tell kinds of entities apart
    """
    settings = with_min_steps(settings, len(sentences))
    count = progress.stage("training", settings.epochs * steps_per_epoch(len(sentences), settings))
    with seeded(settings.seed, encoder.device):
        student = Student.new(encoder, settings, form=model.selector.form)
        train_student(
            student, sentences, gates, settings, vectors=vectors, after_step=lambda: count(1)
        )
        student = student.as_saved()
    calibrated = CalibratedSelector.calibrate(
        student.selector,
        _gate_scores(student, sentences),
        sentences,
        model.signal_extractor.extract(sentences),
        not_names=model.not_names,
        span_model=model.span_model,
    )
    learned_from = {
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "settings": asdict(settings),
        **{name: model.learned_from[name] for name in CREDITS if name in model.learned_from},
        "teacher": {"encoder": model.encoder, "layer": model.layer, **model.learned_from},
    }
    return replace(
        model,
        encoder=student.encoder.name,
        layer=student.encoder.layer,
        selectors=(calibrated,),
        entity=0,
        features=Features(),
        learned_from=learned_from,
        static=student.encoder,
        # These belong to the teacher's encoder.
        ranges={},
        layers={},
        kinds=None,
        link_gate=None,
    )


def with_min_steps(settings: DistillationSettings, sentences: int) -> DistillationSettings:
    """Return settings with enough epochs for the minimum number of steps."""
    epochs = -(-_MIN_STEPS // steps_per_epoch(sentences, settings))
    return replace(settings, epochs=max(settings.epochs, epochs))


def _gate_scores(student: Student, sentences: Sequence[Sequence[str]]) -> Scores:
    """Return P(open) of every word: (words,)."""
    with torch.inference_mode():
        return np.concatenate(
            [
                student.gates(sentences[low : low + _SENTENCES_PER_BATCH]).prob_open().cpu().numpy()
                for low in range(0, len(sentences), _SENTENCES_PER_BATCH)
            ]
        )
