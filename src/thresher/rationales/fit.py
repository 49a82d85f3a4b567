"""From labelled texts to a classifier and its gates."""

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
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import cache_vectors
from thresher.progress import ProgressReporter
from thresher.rationales.classifier import Classifier, Reader, seeded_classifier
from thresher.rationales.classifier_training import train_classifier
from thresher.rationales.corpus import Corpus, per_text, split
from thresher.rationales.faithfulness import Faithfulness, measure_faithfulness
from thresher.rationales.inference import Words, text_vectors
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.training import OPEN, Check, TrainedGates, collapse, train_gates

LEAST_TEXTS = 20  # fewer teach nothing


@dataclass(frozen=True)
class Fitted:
    """What fitting found out.

    held_out: figures on the texts it did not learn from   warnings: what went wrong, a line each
    """

    selector: Selector
    classifier: Classifier
    checks: tuple[Check, ...]
    chosen: Check
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
    opinions: NDArray[np.float32] | None = None,
    progress: ProgressReporter,
) -> Fitted:
    """Learn which words of texts carry their labels.

    texts: the words of each   labels: (texts,), numbers into `label_names`
    classifier: one that is already trained, to be explained; by default one is learned
    opinions: (words,), π of each word or NaN
    """
    check_labels(labels, label_names)
    learn, held_out = split(len(texts), share=settings.held_out, seed=settings.seed)
    reader = Reader(encoder, settings.gates_at)
    targets = labels
    if settings.mode == "joint" and (classifier is not None or not settings.head_start):
        classifier = classifier or _untrained(encoder, len(label_names), settings)
    else:
        whole = text_vectors(reader, texts, progress=progress.stage("texts", len(texts)))
        classifier = classifier or train_classifier(
            reader,
            texts,
            whole,
            labels,
            label_count=len(label_names),
            learn=learn,
            held_out=held_out,
            settings=settings,
            progress=progress.stage("classifier", len(texts) * settings.partial_readings),
        )
        if settings.mode == "frozen":  # what it says is to be kept, right or wrong
            with torch.no_grad():
                targets = classifier(whole).argmax(-1).cpu()
    with tempfile.TemporaryDirectory() as work:
        count = progress.stage("words", len(texts))
        vectors = cache_vectors(encoder, texts, Path(work) / "vectors.npy", progress=count)
        corpus = Corpus(texts, targets, vectors, opinions)
        trained = train_gates(
            reader,
            corpus,
            classifier,
            learn=learn,
            held_out=held_out,
            settings=settings,
            after_step=progress.stage("gates", settings.steps),
        )
        opened = open_probabilities(trained.selector, corpus.vectors_of(held_out, encoder.device))
    figures = measure_faithfulness(
        reader,
        trained.classifier,
        corpus.words(held_out),
        labels[held_out],
        per_text(opened >= OPEN, corpus.words(held_out)),
    )
    warnings = _warnings(trained, figures, labels[held_out], settings)
    for warning in warnings:
        progress.note(warning)
    return Fitted(
        trained.selector, trained.classifier, trained.checks, trained.chosen, figures, warnings
    )


def check_labels(labels: Tensor, names: Sequence[str]) -> None:
    """Refuse too few texts, and texts of one label."""
    if len(labels) < LEAST_TEXTS:
        raise InputError(f"{len(labels)} texts are too few to learn from; give {LEAST_TEXTS}")
    if len(names) < 2:
        raise InputError(f"every text has the label {names[0]!r}; there must be two or more")


def open_probabilities(selector: Selector, vectors: Tensor) -> Tensor:
    """P(open) of every word: (words,)."""
    with torch.no_grad():
        opened: Tensor = selector(vectors).prob_open().cpu()
    return opened


def _untrained(encoder: Encoder, labels: int, settings: RationaleSettings) -> Classifier:
    new = seeded_classifier(settings.seed, encoder.width, labels, hidden=settings.hidden)
    return new.to(encoder.device)


def _warnings(
    trained: TrainedGates, figures: Faithfulness, labels: Tensor, settings: RationaleSettings
) -> tuple[str, ...]:
    found = []
    chosen, last, target = trained.chosen, trained.checks[-1], settings.sparsity_target
    advice = "try another target share, another weight for sparsity, or more steps"
    collapsed, later = collapse(chosen.selected), collapse(last.selected)
    if collapsed is not None and not (target is not None and abs(target - chosen.selected) < 0.05):
        share = f"{chosen.selected:.1%} of held-out words selected"
        found.append(f"the gates have collapsed: {collapsed} ({share}); {advice}")
    elif later is not None and collapsed is None:
        kept = f"those of step {chosen.step} are kept"
        found.append(f"the gates collapsed in the end, {later}: {kept}; {advice}")
    elif target is not None and chosen.terms["sparsity"] > target + 0.05:
        found.append(
            f"the target was not reached: gates are open on {chosen.terms['sparsity']:.1%} of "
            f"words instead of {target:.1%}; try more steps"
        )
    commonest = float(torch.bincount(labels).max()) / len(labels)
    answered = figures.accuracy if settings.mode == "frozen" else figures.accuracy_from_rationale
    if answered <= commonest:
        found.append(
            f"the classifier is right on {answered:.1%} of held-out texts, no better than always "
            "answering the commonest label: its rationales mean nothing"
        )
    return tuple(found)
