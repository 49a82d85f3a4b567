"""Score words by gradients, a common way to explain a classifier, to compare with rationales.

A gate g mixes a word's embedding e with that of a closed gate, e₀, so ∂F/∂g at g = 1 is the
gradient times (e − e₀): gradient × input, relative to the embedding of a removed word.
"""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from thresher.gates.batching import batches_by_length
from thresher.rationales.classifier import Classifier, GatedEncoder
from thresher.rationales.corpus import split_by_text
from thresher.rationales.inference import Words

INTEGRATION_POINTS = 8
_WORDS_PER_BATCH = {"cpu": 1024, "cuda": 16_384}


def gradient_scores(
    gated_encoder: GatedEncoder,
    classifier: Classifier,
    texts: Sequence[Words],
    answers: Tensor,
    *,
    points: int = 1,
) -> list[Tensor]:
    """Return ∂ log p(answer)/∂g of every word; for each text (words,).

    points: 1 takes the gradient with all gates open. More take the mean of the gradients at gates
        of (k + ½)/points: integrated gradients, whose sum approaches log p(answer | all words) −
        log p(answer | no words) as the number of points grows.
    answers: (texts,), the predicted labels
    """
    scores: list[Tensor] = [torch.zeros(0)] * len(texts)
    device = gated_encoder.encoder.device
    gate_values = [1.0] if points == 1 else [(k + 0.5) / points for k in range(points)]
    words_per_batch = _WORDS_PER_BATCH.get(device.type, 1024)
    with torch.inference_mode(False), torch.enable_grad():  # the caller may have disabled them
        answers = answers.to(device, copy=True)
        for indices in batches_by_length(texts, words_per_batch=words_per_batch):
            batch = gated_encoder.encoder.batch([texts[i] for i in indices])
            total = torch.zeros(batch.words, device=device)
            for value in gate_values:
                z = torch.full((batch.words,), value, device=device, requires_grad=True)
                log_p = torch.log_softmax(classifier(gated_encoder.vectors(batch, z)), -1)
                log_p_answers = log_p.gather(-1, answers[indices][:, None])
                total += torch.autograd.grad(log_p_answers.sum(), z)[0]
            rows = split_by_text((total / points).cpu(), [texts[i] for i in indices])
            for i, row in zip(indices, rows, strict=True):
                scores[i] = row
    return scores


def contributions(
    gated_encoder: GatedEncoder, classifier: Classifier, texts: Sequence[Words], answers: Tensor
) -> list[Tensor]:
    """Return how much each word adds to log p(answer), by integrated gradients; per text (words,).

    Words with positive numbers make the answer more probable, those with negative ones less.
    """
    return gradient_scores(gated_encoder, classifier, texts, answers, points=INTEGRATION_POINTS)


def random_scores(texts: Sequence[Words], *, generator: Generator) -> list[Tensor]:
    """Draw a number from U(0, 1) for every word; for each text (words,)."""
    return [torch.rand(len(words), generator=generator) for words in texts]


def top_words(scores: Sequence[Tensor], counts: Sequence[int]) -> list[Tensor]:
    """Mark the `counts[i]` words of text i that score highest: for each text (words,)."""
    selected = []
    for row, count in zip(scores, counts, strict=True):
        mask = torch.zeros(len(row), dtype=torch.bool)
        mask[row.topk(count).indices] = True
        selected.append(mask)
    return selected
