"""Measure how much a classifier's answers (predicted labels) depend on rationales.

The classifier reads each text three times: whole, only the words of its rationale, and only the
other words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.rationales.classifier import Classifier, GatedEncoder
from thresher.rationales.inference import Words, probabilities


@dataclass(frozen=True)
class Faithfulness:
    """How the classifier's answers change with the rationale alone and without it.

    selected: the fraction of all words that are in a rationale
    empty: the fraction of texts whose rationale has no words
    accuracy: the accuracy on whole texts
    accuracy_from_rationale, accuracy_without: that on rationales alone, and without rationales
    kept: the fraction of texts for which the rationale alone gives the same answer as the whole
    sufficiency: the mean drop in the probability of the answer if only the rationale is kept;
        lower is better
    comprehensiveness: the mean drop if the rationale is removed; higher is better
    """

    texts: int
    selected: float
    empty: float
    accuracy: float
    accuracy_from_rationale: float
    accuracy_without: float
    kept: float
    sufficiency: float
    comprehensiveness: float


def measure_faithfulness(
    gated_encoder: GatedEncoder,
    classifier: Classifier,
    texts: Sequence[Words],
    labels: Tensor,
    selected: Sequence[Tensor],
    *,
    whole: Tensor | None = None,
    progress: Callable[[int], None] = lambda texts: None,
) -> Faithfulness:
    """Classify whole texts, their rationales and the other words, and compare the answers.

    labels: (texts,), the true ones
    selected: for each text (words,), true where a word is in its rationale
    whole: (texts, labels), the probabilities given the whole texts, if they are known already
    """
    if whole is None:
        whole = probabilities(gated_encoder, classifier, texts, progress=progress)
    kept = [each.float() for each in selected]
    rest = [1 - each for each in kept]
    return faithfulness(
        whole,
        probabilities(gated_encoder, classifier, texts, kept, progress=progress),
        probabilities(gated_encoder, classifier, texts, rest, progress=progress),
        labels,
        selected,
    )


def faithfulness(
    whole: Tensor, rationale: Tensor, rest: Tensor, labels: Tensor, selected: Sequence[Tensor]
) -> Faithfulness:
    """Compute the figures from the probabilities given whole texts, rationales and the rest.

    whole, rationale, rest: (texts, labels)   labels: (texts,), the true ones
    selected: for each text (words,), true where a word is in its rationale
    """
    labels = labels.to(whole.device)
    answer = whole.argmax(-1)
    answer_probability = _probability_of(answer, whole)
    words = sum(len(each) for each in selected)
    return Faithfulness(
        texts=len(labels),
        selected=sum(int(each.sum()) for each in selected) / words,
        empty=sum(not bool(each.any()) for each in selected) / len(selected),
        accuracy=_fraction(answer == labels),
        accuracy_from_rationale=_fraction(rationale.argmax(-1) == labels),
        accuracy_without=_fraction(rest.argmax(-1) == labels),
        kept=_fraction(rationale.argmax(-1) == answer),
        sufficiency=float((answer_probability - _probability_of(answer, rationale)).mean()),
        comprehensiveness=float((answer_probability - _probability_of(answer, rest)).mean()),
    )


def _probability_of(answer: Tensor, probabilities: Tensor) -> Tensor:
    return probabilities.gather(-1, answer[:, None])[:, 0]


def _fraction(true: Tensor) -> float:
    return float(true.to(torch.float64).mean())
