"""How good rationales are: pure functions of what a classifier answers to parts of texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.entities.evaluation import Counts


@dataclass(frozen=True)
class Faithfulness:
    """What is left of a classifier's answers when it reads rationales, and when it does not.

    selected: the share of all words that are in a rationale
    empty: the share of texts without any
    accuracy, accuracy_from_rationale, accuracy_without: of the answers to whole texts, to their
        rationales alone, and to what is left without them
    kept: the share of texts whose rationale alone gets the answer of the whole text
    sufficiency: how much of the probability of that answer is lost with the rationale alone, on
        average (lower is better)   comprehensiveness: how much without it (higher is better)
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


def faithfulness(
    whole: Tensor,
    rationale: Tensor,
    rest: Tensor,
    labels: Tensor,
    selected: Sequence[Tensor],
) -> Faithfulness:
    """From the probabilities of labels given the whole texts, their rationales and the rest.

    whole, rationale, rest: (texts, labels)   labels: (texts,), the true ones
    selected: for each text (words,), true where a word is in its rationale
    """
    labels = labels.to(whole.device)
    answer = whole.argmax(-1)
    believed = _of(whole, answer)
    words = sum(len(each) for each in selected)
    return Faithfulness(
        texts=len(labels),
        selected=sum(int(each.sum()) for each in selected) / words,
        empty=sum(not bool(each.any()) for each in selected) / len(selected),
        accuracy=_share(answer == labels),
        accuracy_from_rationale=_share(rationale.argmax(-1) == labels),
        accuracy_without=_share(rest.argmax(-1) == labels),
        kept=_share(rationale.argmax(-1) == answer),
        sufficiency=float((believed - _of(rationale, answer)).mean()),
        comprehensiveness=float((believed - _of(rest, answer)).mean()),
    )


def token_counts(gold: Sequence[Tensor], selected: Sequence[Tensor]) -> Counts:
    """Selected words against gold ones, of all texts together; for each text (words,)."""
    pairs = [(g.bool(), s.bool()) for g, s in zip(gold, selected, strict=True)]
    return Counts(
        correct=sum(int((g & s).sum()) for g, s in pairs),
        predicted=sum(int(s.sum()) for _, s in pairs),
        gold=sum(int(g.sum()) for g, _ in pairs),
    )


def _of(probabilities: Tensor, answer: Tensor) -> Tensor:
    return probabilities.gather(-1, answer[:, None])[:, 0]


def _share(true: Tensor) -> float:
    return float(true.to(torch.float64).mean())
