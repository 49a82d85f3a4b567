"""Let a classifier read whole texts, or only some of their words."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from thresher.gates.batching import batches_by_length
from thresher.rationales.classifier import Classifier, Reader

_WORDS_PER_BATCH = {"cpu": 1024, "cuda": 32_768}

Words = Sequence[str]


def text_vectors(
    reader: Reader,
    texts: Sequence[Words],
    kept: Sequence[Tensor] | None = None,
    *,
    progress: Callable[[int], None] = lambda texts: None,
) -> Tensor:
    """Encode texts, optionally without some of their words: (texts, width), without gradients.

    kept: for each text (words,), 1 for words to keep and 0 for words to remove; by default all are
        kept
    """
    device = reader.encoder.device
    vectors = torch.zeros(len(texts), reader.encoder.width, device=device)
    words_per_batch = _WORDS_PER_BATCH.get(device.type, 1024)
    with torch.no_grad():
        for indices in batches_by_length(texts, words_per_batch=words_per_batch):
            batch = reader.batch([texts[i] for i in indices])
            z = None if kept is None else torch.cat([kept[i] for i in indices]).to(vectors)
            vectors[indices] = reader.vectors(batch, z)
            progress(len(indices))
    return vectors


def probabilities(
    reader: Reader,
    classifier: Classifier,
    texts: Sequence[Words],
    kept: Sequence[Tensor] | None = None,
    *,
    progress: Callable[[int], None] = lambda texts: None,
) -> Tensor:
    """Return the probability of each label given the kept words: (texts, labels)."""
    vectors = text_vectors(reader, texts, kept, progress=progress)
    with torch.no_grad():
        return torch.softmax(classifier(vectors), -1)
