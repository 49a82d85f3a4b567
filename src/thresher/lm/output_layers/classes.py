"""The class-based softmax: choose a class, then a word in it."""

import math

from torch import Tensor

from thresher.lm.output_layers.hierarchical import HierarchicalSoftmax
from thresher.lm.tokens.counts import inverse_permutation, tokens_by_frequency


class ClassSoftmax(HierarchicalSoftmax):
    """p(w | h) = p(class | h)·p(w | class, h), with 2·√V products per position instead of V.

    A hierarchy of two levels (Goodman 2001). Classes may have different sizes; the largest one
    determines the cost.

    classes: the number of classes of words of similar frequency, by default √V; or (vocabulary,),
    the class of each word
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
            raise ValueError(f"`classes` must be a number or ({vocabulary},), got {shape}")
        super().__init__(width, vocabulary, paths=classes[:, None])


def frequency_classes(
    vocabulary: int, classes: int, *, frequencies: Tensor | None = None
) -> Tensor:
    """Divide the words, in order of frequency, into classes of nearly equal size: (vocabulary,)."""
    if not 1 <= classes <= vocabulary:
        raise ValueError(f"`classes` must lie in [1, {vocabulary}], got {classes}")
    return inverse_permutation(tokens_by_frequency(frequencies, vocabulary)) * classes // vocabulary
