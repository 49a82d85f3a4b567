"""What a classifier answers to whole texts, and to parts of them."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from thresher.gates.word_vectors import batches_by_length
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
    """The vector of each text read with some of its words alone: (texts, width), without gradients.

    kept: for each text (words,), 1 where a word stays and 0 where it goes; all stay by default
    """
    device = reader.encoder.device
    vectors = torch.zeros(len(texts), reader.encoder.width, device=device)
    most = _WORDS_PER_BATCH.get(device.type, 1024)
    with torch.no_grad():
        for indices in batches_by_length(texts, words_per_batch=most):
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
    """The probability of each label given those words: (texts, labels)."""
    vectors = text_vectors(reader, texts, kept, progress=progress)
    with torch.no_grad():
        return torch.softmax(classifier(vectors), -1)
