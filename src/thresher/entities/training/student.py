"""From a finder and raw text to the model of a faster finder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

import numpy as np
import torch

from thresher.encoders.protocol import Encoder
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.model import FinderModel
from thresher.entities.model_card import CREDITS
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training.distillation import (
    DistillationSettings,
    Student,
    steps_per_epoch,
    teach,
)
from thresher.gates.features import Features
from thresher.progress import ProgressReporter

_LEAST_STEPS = 500  # a small text is read more often
_TOGETHER = 512  # sentences that the student reads at a time, once it is taught


def distilled(
    model: FinderModel,
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    gates: Sequence[Scores],
    *,
    settings: DistillationSettings,
    progress: ProgressReporter,
) -> FinderModel:
    """A model that finds what `model` finds, with an encoder of its own that is no transformer.

    encoder: the teacher's   gates: the teacher's P(open), (words,) for each sentence
    """
    settings = long_enough(settings, len(sentences))
    count = progress.stage("learning", settings.epochs * steps_per_epoch(len(sentences), settings))
    with _seeded(settings.seed, encoder.device):
        student = Student.new(encoder, settings, form=model.selector.form)
        teach(student, sentences, gates, settings, after_step=lambda: count(1))
        student = student.as_saved()
    seen = model.signal_extractor.extract(sentences)
    own = _gates(student, sentences)
    head = CalibratedSelector.calibrate(
        student.selector, own, sentences, seen, not_names=model.not_names
    )
    return FinderModel(
        encoder=student.encoder.name,
        layer=student.encoder.layer,
        heads=(head,),
        ordinary=model.ordinary,
        not_names=model.not_names,
        dates=model.dates,
        features=Features(),
        learned_from={
            "sentences": len(sentences),
            "words": sum(map(len, sentences)),
            "settings": asdict(settings),
            **{name: model.learned_from[name] for name in CREDITS if name in model.learned_from},
            "teacher": {"encoder": model.encoder, "layer": model.layer, **model.learned_from},
        },
        static=student.encoder,
    )


def long_enough(settings: DistillationSettings, sentences: int) -> DistillationSettings:
    """EntitySettings with as many epochs as it takes for the least number of steps."""
    epochs = -(-_LEAST_STEPS // steps_per_epoch(sentences, settings))
    return replace(settings, epochs=max(settings.epochs, epochs))


def _gates(student: Student, sentences: Sequence[Sequence[str]]) -> Scores:
    """P(open) of every word: (words,)."""
    with torch.inference_mode():
        return np.concatenate(
            [
                student.gates(sentences[low : low + _TOGETHER]).prob_open().cpu().numpy()
                for low in range(0, len(sentences), _TOGETHER)
            ]
        )


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Random numbers that follow from the seed alone; the global generators are kept."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
