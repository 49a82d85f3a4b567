"""Distill a finder, and measure its agreement with its teacher on held-out sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.entities.evaluation import span_counts
from thresher.progress import ProgressReporter

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.training.distillation import DistillationSettings

_HOLD_OUT_EVERY, _MAX_HELD_OUT = 20, 500  # every 20th sentence is held out, at most 500

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class DistillationReport:
    """A distilled finder and its agreement with the teacher.

    sentences, words: how many the student was trained on
    held_out: how many sentences it was not trained on
    agreement: the exact span F1 of the student on these, with the teacher's spans as gold; None if
    the teacher found no span in them
    """

    student: "EntityFinder"
    sentences: int
    words: int
    held_out: int
    agreement: float | None


def distill_with_report(
    teacher: "EntityFinder",
    sentences: Sentences,
    *,
    settings: "DistillationSettings | None" = None,
    progress: ProgressReporter | None = None,
) -> DistillationReport:
    """Train a fast student on all but the held-out sentences, and compare it with its teacher."""
    training, held_out = hold_out(sentences)
    student = teacher.distill_words(training, settings=settings, progress=progress)
    return DistillationReport(
        student=student,
        sentences=len(training),
        words=sum(map(len, training)),
        held_out=len(held_out),
        agreement=span_agreement(teacher, student, held_out),
    )


def hold_out(sentences: Sentences) -> tuple[Sentences, Sentences]:
    """Split sentences into those to train on, and every 20th (at most 500) to measure with."""
    last = _HOLD_OUT_EVERY * _MAX_HELD_OUT
    training = [words for i, words in enumerate(sentences, 1) if i % _HOLD_OUT_EVERY or i > last]
    return training, sentences[_HOLD_OUT_EVERY - 1 :: _HOLD_OUT_EVERY][:_MAX_HELD_OUT]


def span_agreement(
    teacher: "EntityFinder", student: "EntityFinder", sentences: Sentences
) -> float | None:
    """Return the exact span F1 of the student, with the teacher's spans as gold."""
    gold = [[(each.start, each.end) for each in row] for row in teacher.find_words(sentences)]
    if not any(gold):
        return None
    return span_counts(gold, student.find_words(sentences), threshold=0.0).f1
