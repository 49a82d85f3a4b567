"""Apply a classifier to whole texts, or only to some of their words."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from thresher.gates.batching import batches_by_length
from thresher.rationales.classifier import Classifier, GatedEncoder

_WORDS_PER_BATCH = {"cpu": 1024, "cuda": 32_768}

Words = Sequence[str]


def text_vectors(
    gated_encoder: GatedEncoder,
    texts: Sequence[Words],
    kept: Sequence[Tensor] | None = None,
    *,
    progress: Callable[[int], None] = lambda texts: None,
) -> Tensor:
    """Encode texts, optionally without some of their words: (texts, width), without gradients.

    kept: for each text (words,), 1 for words to keep and 0 for words to remove; by default all are
        kept
    """
    device = gated_encoder.encoder.device
    vectors = torch.zeros(len(texts), gated_encoder.encoder.width, device=device)
    words_per_batch = _WORDS_PER_BATCH.get(device.type, 1024)
    with torch.no_grad():
        for indices in batches_by_length(texts, words_per_batch=words_per_batch):
            batch = gated_encoder.encoder.batch([texts[i] for i in indices])
            z = None if kept is None else torch.cat([kept[i] for i in indices]).to(vectors)
            vectors[indices] = gated_encoder.vectors(batch, z)
            progress(len(indices))
    return vectors


def probabilities(
    gated_encoder: GatedEncoder,
    classifier: Classifier,
    texts: Sequence[Words],
    kept: Sequence[Tensor] | None = None,
    *,
    progress: Callable[[int], None] = lambda texts: None,
) -> Tensor:
    """Return the probability of each label given the kept words: (texts, labels)."""
    vectors = text_vectors(gated_encoder, texts, kept, progress=progress)
    with torch.no_grad():
        return torch.softmax(classifier(vectors), -1)
