"""Train a classifier on whole texts, and on texts from which random words are removed."""

import copy
import math
from collections.abc import Callable, Sequence

import torch
from torch import Generator, Tensor
from torch.nn import functional

from thresher.gates.optimization import adamw, take_step
from thresher.rationales.classifier import Classifier, GatedEncoder, seeded_classifier
from thresher.rationales.inference import Words, text_vectors
from thresher.rationales.settings import RationaleSettings

_VECTORS_PER_BATCH = 256
_EPOCHS = 30
_MIN_STEPS = 300
_LEARNING_RATE = 1e-3


def train_classifier(
    gated_encoder: GatedEncoder,
    texts: Sequence[Words],
    whole: Tensor,
    labels: Tensor,
    *,
    label_count: int,
    training: Sequence[int],
    held_out: Sequence[int],
    settings: RationaleSettings,
    progress: Callable[[int], None] = lambda texts: None,
) -> Classifier:
    """Train a classifier, and return the weights of its best epoch on the held-out texts.

    The encoder is frozen, so texts are encoded once: whole, and several times with some words
    removed. The fraction of removed words is drawn for each text, so that the classifier sees
    anything from all words of a text to none, as it will with gates.

    whole: (texts, width), the vectors of whole texts   labels: (texts,)
    training, held_out: indices of texts
    """
    generator = Generator().manual_seed(settings.seed)
    versions = [whole]
    for _ in range(settings.partial_readings):
        kept = random_parts(texts, generator)
        versions.append(text_vectors(gated_encoder, texts, kept, progress=progress))
    vectors = torch.stack(versions)  # (versions, texts, width)
    targets = labels.to(vectors.device).expand(len(versions), -1)
    classifier = seeded_classifier(
        settings.seed, gated_encoder.encoder.width, label_count, hidden=settings.hidden
    ).to(vectors.device)
    return _best_epoch(
        classifier,
        (vectors[:, training].flatten(0, 1), targets[:, training].flatten()),
        (vectors[:, held_out].flatten(0, 1), targets[:, held_out].flatten()),
        weight_decay=settings.weight_decay,
        generator=generator,
    )


def random_parts(texts: Sequence[Words], generator: Generator) -> list[Tensor]:
    """Mark random words to keep, 1 or 0 each; the kept fraction of a text is drawn from U(0, 1)."""
    fractions = torch.rand(len(texts), generator=generator)
    return [
        (torch.rand(len(words), generator=generator) < fraction).float()
        for words, fraction in zip(texts, fractions, strict=True)
    ]


def _best_epoch(
    classifier: Classifier,
    training: tuple[Tensor, Tensor],
    held_out: tuple[Tensor, Tensor],
    *,
    weight_decay: float,
    generator: Generator,
) -> Classifier:
    """Train, and restore the weights with the lowest cross-entropy on the held-out vectors."""
    vectors, targets = training
    optimizer = adamw([classifier], learning_rate=_LEARNING_RATE, weight_decay=weight_decay)
    epochs = max(_EPOCHS, math.ceil(_MIN_STEPS * _VECTORS_PER_BATCH / len(vectors)))
    lowest, best = math.inf, classifier.state_dict()
    for epoch in range(epochs):
        order = torch.randperm(len(vectors), generator=generator).to(vectors.device)
        for rows in torch.split(order, _VECTORS_PER_BATCH):
            loss = functional.cross_entropy(classifier(vectors[rows]), targets[rows])
            take_step(optimizer, loss, when=f"in epoch {epoch + 1} of the classifier")
        with torch.no_grad():
            held_out_loss = float(functional.cross_entropy(classifier(held_out[0]), held_out[1]))
        if held_out_loss < lowest:
            lowest, best = held_out_loss, copy.deepcopy(classifier.state_dict())
    classifier.load_state_dict(best)
    return classifier.eval().requires_grad_(False)
