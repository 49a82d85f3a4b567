"""The class-based softmax: a class first, then a word of it."""

import math

from torch import Tensor

from thresher.lm.output_layers.hierarchical import HierarchicalSoftmax
from thresher.lm.tokens.counts import inverse_permutation, tokens_by_frequency


class ClassSoftmax(HierarchicalSoftmax):
    """p(w | h) = p(class | h)·p(w | class, h), with 2·√V products for a position instead of V.

    A hierarchy of two levels (Goodman 2001). Classes of very unequal size are allowed; the largest
    one sets the cost.

    classes: how many, √V by default, of words of like frequency; or (vocabulary,), each word's own
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        classes: int | Tensor | None = None,
        frequencies: Tensor | None = None,
    ) -> None:
        if not isinstance(classes, Tensor):
            count = round(math.sqrt(vocabulary)) if classes is None else classes
            classes = frequency_classes(vocabulary, count, frequencies=frequencies)
        if classes.shape != (vocabulary,):
            shape = tuple(classes.shape)
            raise ValueError(f"classes must be a number or ({vocabulary},), got {shape}")
        super().__init__(width, vocabulary, paths=classes[:, None])


def frequency_classes(
    vocabulary: int, classes: int, *, frequencies: Tensor | None = None
) -> Tensor:
    """Runs of near-equal length of the words from the most frequent on: (vocabulary,)."""
    if not 1 <= classes <= vocabulary:
        raise ValueError(f"classes must lie in [1, {vocabulary}], got {classes}")
    return inverse_permutation(tokens_by_frequency(frequencies, vocabulary)) * classes // vocabulary
