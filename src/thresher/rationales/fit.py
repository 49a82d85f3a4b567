"""Fit a classifier and its gates on labelled texts."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.protocol import Encoder
from thresher.errors import InputError
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.progress import ProgressReporter
from thresher.rationales.choices import RationaleMode
from thresher.rationales.classifier import Classifier, GatedEncoder, seeded_classifier
from thresher.rationales.classifier_training import train_classifier
from thresher.rationales.corpus import LabelledCorpus, hold_out_texts, split_by_text
from thresher.rationales.faithfulness import Faithfulness, measure_faithfulness
from thresher.rationales.inference import Words, text_vectors
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.training import OPEN, OPEN_RATE_LIMITS, TrainedGates, train_gates

MIN_TEXTS = 20  # with fewer, nothing is learned
_TARGET_TOLERANCE = 0.05  # a larger deviation of the open gates from their target is a warning


@dataclass(frozen=True)
class FittedRationales:
    """The result of fitting.

    held_out: figures on the held-out texts   warnings: one line for each problem
    """

    gates: TrainedGates
    held_out: Faithfulness
    warnings: tuple[str, ...]


def fit_rationales(
    texts: Sequence[Words],
    labels: Tensor,
    encoder: Encoder,
    *,
    label_names: Sequence[str],
    settings: RationaleSettings,
    classifier: Classifier | None = None,
    prior: NDArray[np.float32] | None = None,
    progress: ProgressReporter,
) -> FittedRationales:
    """Train gates that select the words which decide the labels of texts.

    texts: the words of each   labels: (texts,), indices of `label_names`
    classifier: a trained one, to be explained or trained further; by default one is trained
    prior: (words,), π of each word, NaN where it gives no probability
    """
    _require_enough_texts(labels, label_names)
    training, held_out = hold_out_texts(len(texts), fraction=settings.held_out, seed=settings.seed)
    gated_encoder = GatedEncoder(encoder, settings.gates_at)
    classifier, targets = _classifier_and_targets(
        gated_encoder,
        texts,
        labels,
        classifier,
        label_count=len(label_names),
        training=training,
        held_out=held_out,
        settings=settings,
        progress=progress,
    )
    with tempfile.TemporaryDirectory() as folder:
        count = progress.stage("words", len(texts))
        vectors = cache_vectors(encoder, texts, Path(folder) / "vectors.npy", progress=count)
        corpus = LabelledCorpus(texts, vectors, UnitIndex.of_words(texts), targets, prior)
        trained = train_gates(
            gated_encoder,
            corpus,
            classifier,
            training=training,
            held_out=held_out,
            settings=settings,
            after_step=progress.stage("gates", settings.steps),
        )
        figures = _held_out_figures(gated_encoder, corpus, trained, labels, held_out)
    warnings = _warnings(trained, figures, labels[held_out], settings)
    for warning in warnings:
        progress.note(warning)
    return FittedRationales(trained, figures, warnings)


def _require_enough_texts(labels: Tensor, names: Sequence[str]) -> None:
    """Raise InputError for too few texts, and if all texts have the same label."""
    if len(labels) < MIN_TEXTS:
        raise InputError(
            f"{len(labels)} texts are too few to learn from; give at least {MIN_TEXTS}"
        )
    if len(names) < 2:
        raise InputError(f"all texts have the label {names[0]!r}; give texts of two or more labels")


def _classifier_and_targets(
    gated_encoder: GatedEncoder,
    texts: Sequence[Words],
    labels: Tensor,
    classifier: Classifier | None,
    *,
    label_count: int,
    training: Sequence[int],
    held_out: Sequence[int],
    settings: RationaleSettings,
    progress: ProgressReporter,
) -> tuple[Classifier, Tensor]:
    """Return the classifier with which gates are trained, and the labels that they have to keep.

    In mode "frozen" the labels are those that the classifier predicts for whole texts.

    returns: the classifier and (texts,)
    """
    is_joint = settings.mode == RationaleMode.JOINT
    if is_joint and classifier is not None:
        return classifier, labels
    if is_joint and not settings.head_start:
        width, device = gated_encoder.encoder.width, gated_encoder.encoder.device
        new = seeded_classifier(settings.seed, width, label_count, hidden=settings.hidden)
        return new.to(device), labels
    whole = text_vectors(gated_encoder, texts, progress=progress.stage("texts", len(texts)))
    classifier = classifier or train_classifier(
        gated_encoder,
        texts,
        whole,
        labels,
        label_count=label_count,
        training=training,
        held_out=held_out,
        settings=settings,
        progress=progress.stage("classifier", len(texts) * settings.partial_readings),
    )
    if is_joint:
        return classifier, labels
    with torch.no_grad():
        return classifier, classifier(whole).argmax(-1).cpu()


def _held_out_figures(
    gated_encoder: GatedEncoder,
    corpus: LabelledCorpus,
    trained: TrainedGates,
    labels: Tensor,
    held_out: Sequence[int],
) -> Faithfulness:
    device = gated_encoder.encoder.device
    texts = corpus.words(held_out)
    opened = open_probabilities(trained.selector, corpus.vectors_of(held_out, device), device)
    selected = split_by_text(opened >= OPEN, texts)
    return measure_faithfulness(
        gated_encoder, trained.classifier, texts, labels[list(held_out)], selected
    )


def _warnings(
    trained: TrainedGates, figures: Faithfulness, labels: Tensor, settings: RationaleSettings
) -> tuple[str, ...]:
    warnings = []
    if (gate_warning := _gate_warning(trained, settings)) is not None:
        warnings.append(gate_warning)
    most_frequent = float(torch.bincount(labels).max()) / len(labels)
    frozen = settings.mode == RationaleMode.FROZEN
    accuracy = figures.accuracy if frozen else figures.accuracy_from_rationale
    if accuracy <= most_frequent:
        warnings.append(
            f"the classifier is right on {accuracy:.1%} of held-out texts, no better than always "
            "answering the most frequent label: its rationales are meaningless"
        )
    return tuple(warnings)


def _gate_warning(trained: TrainedGates, settings: RationaleSettings) -> str | None:
    """Return one line if the gates have collapsed or missed their target."""
    chosen, last, target = trained.chosen, trained.checks[-1], settings.sparsity_target
    advice = "try another fraction of words to select, another `sparsity`, or more `steps`"
    collapse, last_collapse = (OPEN_RATE_LIMITS.collapse(each.selected) for each in (chosen, last))
    on_target = target is not None and abs(target - chosen.selected) < _TARGET_TOLERANCE
    if collapse is not None and not on_target:
        return f"the gates have collapsed: {collapse}; {advice}"
    if last_collapse is not None and collapse is None:
        return (
            f"the gates collapsed in the end: {last_collapse}; those of step {chosen.step} are "
            f"kept; {advice}"
        )
    if target is not None and chosen.terms["sparsity"] > target + _TARGET_TOLERANCE:
        return (
            f"the target was not reached: gates are open on {chosen.terms['sparsity']:.1%} of "
            f"words instead of {target:.1%}; try more `steps`"
        )
    return None
