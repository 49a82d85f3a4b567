"""What gradients say of words: the usual explanations, to stand beside learned ones.

A gate g mixes a word's embedding e with that of a closed gate, e₀, so that ∂F/∂g at g = 1 is the
gradient times (e − e₀): gradient × input, measured from the embedding that stands for nothing.
"""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from thresher.gates.word_vectors import batches_by_length
from thresher.rationales.classifier import Classifier, Reader
from thresher.rationales.corpus import per_text
from thresher.rationales.inference import Words

_WORDS_PER_BATCH = {"cpu": 1024, "cuda": 16_384}


def gradient_scores(
    reader: Reader,
    classifier: Classifier,
    texts: Sequence[Words],
    answers: Tensor,
    *,
    points: int = 1,
) -> list[Tensor]:
    """∂ log p(answer)/∂g of every word; for each text (words,).

    points: 1 takes the gradient with all gates open. More take the mean of the gradients at gates
    of (k + ½)/points: integrated gradients, which add up to log p(answer | all words) −
    log p(answer | no words) as points grow.

    answers: (texts,)
    """
    scores: list[Tensor] = [torch.zeros(0)] * len(texts)
    device = reader.encoder.device
    openings = [1.0] if points == 1 else [(k + 0.5) / points for k in range(points)]
    most = _WORDS_PER_BATCH.get(device.type, 1024)
    for indices in batches_by_length(texts, words_per_batch=most):
        batch = reader.batch([texts[i] for i in indices])
        total = torch.zeros(batch.words, device=device)
        for opening in openings:
            z = torch.full((batch.words,), opening, device=device, requires_grad=True)
            log_p = torch.log_softmax(classifier(reader.vectors(batch, z)), -1)
            asked = log_p.gather(-1, answers.to(device)[indices][:, None])
            total += torch.autograd.grad(asked.sum(), z)[0]
        rows = per_text((total / points).cpu(), [texts[i] for i in indices])
        for i, row in zip(indices, rows, strict=True):
            scores[i] = row
    return scores


def random_scores(texts: Sequence[Words], *, generator: Generator) -> list[Tensor]:
    """A number from U(0, 1) for every word; for each text (words,)."""
    return [torch.rand(len(words), generator=generator) for words in texts]


def top_words(scores: Sequence[Tensor], counts: Sequence[int]) -> list[Tensor]:
    """Mark the `counts[i]` words of text i that score highest: for each text (words,)."""
    chosen = []
    for row, count in zip(scores, counts, strict=True):
        mask = torch.zeros(len(row), dtype=torch.bool)
        mask[row.topk(count).indices] = True
        chosen.append(mask)
    return chosen
