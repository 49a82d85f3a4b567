"""Rationales beside what others would select: as many words of every text, chosen otherwise."""

from collections.abc import Callable, Sequence

from torch import Generator, Tensor

from thresher.rationales.attribution import gradient_scores, highest, random_scores
from thresher.rationales.classifier import Classifier, Reader
from thresher.rationales.evaluation import Faithfulness
from thresher.rationales.fit import measure
from thresher.rationales.inference import Words, probabilities

RIVALS = ("random", "gradient", "integrated gradients")
_POINTS = 8  # of integrated gradients


def compare(
    reader: Reader,
    classifier: Classifier,
    texts: Sequence[Words],
    labels: Tensor,
    selected: Sequence[Tensor],
    *,
    rivals: Sequence[str] = RIVALS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda texts: None,
) -> dict[str, Faithfulness]:
    """Figures of the rationale, and of each rival with the same number of words in every text.

    gradient: the words with the largest |∂ log p(answer)/∂ gate|
    integrated gradients: those whose removal costs most along the way from no words to all
    labels: (texts,)   selected: for each text (words,), true where a word is in its rationale
    """
    whole = probabilities(reader, classifier, texts, progress=progress)
    answers = whole.argmax(-1)
    counts = [int(each.sum()) for each in selected]
    scores: dict[str, Callable[[], list[Tensor]]] = {
        "random": lambda: random_scores(texts, generator=Generator().manual_seed(seed)),
        "gradient": lambda: [
            each.abs() for each in gradient_scores(reader, classifier, texts, answers)
        ],
        "integrated gradients": lambda: gradient_scores(
            reader, classifier, texts, answers, points=_POINTS
        ),
    }
    chosen = {"rationale": list(selected)}
    chosen |= {name: highest(scores[name](), counts) for name in rivals}
    return {
        name: measure(reader, classifier, texts, labels, each, whole=whole, progress=progress)
        for name, each in chosen.items()
    }
