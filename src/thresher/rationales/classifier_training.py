"""Training a classifier on whole texts, and on what is left of them when words go at random."""

import copy
import math
from collections.abc import Callable, Sequence

import torch
from torch import Generator, Tensor
from torch.nn import functional

from thresher.rationales.classifier import Classifier, Reader, seeded_classifier
from thresher.rationales.inference import Words, text_vectors
from thresher.rationales.settings import RationaleSettings

_ROWS = 256  # vectors in a batch
_EPOCHS = 30
_LEAST_STEPS = 300
_LEARNING_RATE = 1e-3


def train_classifier(
    reader: Reader,
    texts: Sequence[Words],
    whole: Tensor,
    labels: Tensor,
    *,
    label_count: int,
    learn: Sequence[int],
    held_out: Sequence[int],
    settings: RationaleSettings,
    progress: Callable[[int], None] = lambda texts: None,
) -> Classifier:
    """A classifier of the texts numbered `learn`, the best of its epochs on those held out.

    The encoder is frozen, so every reading of a text is made once. A reading takes away each word
    with a probability drawn for the text: the classifier meets texts with anything from all of
    their words to none, as it will behind gates.

    whole: (texts, width), the vectors of the texts with all their words   labels: (texts,)
    """
    noise = Generator().manual_seed(settings.seed)
    readings = [whole]
    for _ in range(settings.partial_readings):
        readings.append(text_vectors(reader, texts, random_parts(texts, noise), progress=progress))
    vectors = torch.stack(readings)  # (readings, texts, width)
    targets = labels.to(vectors.device).expand(len(readings), -1)
    classifier = seeded_classifier(
        settings.seed, reader.encoder.width, label_count, hidden=settings.hidden
    ).to(vectors.device)
    return _best_epoch(
        classifier,
        (vectors[:, learn].flatten(0, 1), targets[:, learn].flatten()),
        (vectors[:, held_out].flatten(0, 1), targets[:, held_out].flatten()),
        weight_decay=settings.weight_decay,
        generator=noise,
    )


def random_parts(texts: Sequence[Words], generator: Generator) -> list[Tensor]:
    """Words kept at random, 1 or 0 each; the share of a text that stays is drawn from U(0, 1)."""
    shares = torch.rand(len(texts), generator=generator)
    return [
        (torch.rand(len(words), generator=generator) < share).float()
        for words, share in zip(texts, shares, strict=True)
    ]


def _best_epoch(
    classifier: Classifier,
    learn: tuple[Tensor, Tensor],
    held_out: tuple[Tensor, Tensor],
    *,
    weight_decay: float,
    generator: Generator,
) -> Classifier:
    """The weights after the epoch whose cross-entropy on the held-out vectors is least."""
    vectors, targets = learn
    optimizer = torch.optim.AdamW(
        classifier.parameters(), lr=_LEARNING_RATE, weight_decay=weight_decay
    )
    epochs = max(_EPOCHS, math.ceil(_LEAST_STEPS * _ROWS / len(vectors)))
    least, best = math.inf, classifier.state_dict()
    for _ in range(epochs):
        order = torch.randperm(len(vectors), generator=generator).to(vectors.device)
        for rows in torch.split(order, _ROWS):
            optimizer.zero_grad(set_to_none=True)
            loss = functional.cross_entropy(classifier(vectors[rows]), targets[rows])
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            surprise = float(functional.cross_entropy(classifier(held_out[0]), held_out[1]))
        if surprise < least:
            least, best = surprise, copy.deepcopy(classifier.state_dict())
    classifier.load_state_dict(best)
    return classifier.eval().requires_grad_(False)
